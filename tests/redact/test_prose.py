"""Passwords in sentences go, and what is only said about passwords stays."""

from __future__ import annotations

import gzip

import pytest

from ltm.redact.assignments import names_in
from ltm.redact.prose import WEIGHTS, described, weights
from ltm.redact.redact import redacted
from ltm.redact.stems import TextWords

MARK = "[redacted:password]"
VALUES = ("Arsenal4eva", "medved2008", "Regen-Rinne48")
WAYS = [
    *("the password is {}", "my pw is {}, ok?", "das Passwort lautet {}.", "{} is the password"),
    *("use {} as the password", "the password of that old box is still {}", "hasło to {}"),
    *("login: root / {}", "log in as root / {}", "log in with me:{} please", "creds: me / {}"),
    *("the password changed. The new one is {}", "we set the pw to {} and left"),
    *("it's {} by the way, the db password", "me (password {})", "пароль от базы {}"),
    *("la clave del wifi es {}", "パスワードは{}です", "le mot de passe est {}", "senha: {}"),
    *("teh pasword is {}", "my passwrod is {}", "wachtwoord is {}", "密码是{}"),
]
WORDS = [
    ("the password is swordfish", "swordfish"),
    ("Das Passwort: Sommerregen", "Sommerregen"),
    ("if it asks for a password type mushroom", "mushroom"),
    ("Lösenordet är solros", "solros"),
    ("passphrase: purple monkey dishwasher", "purple monkey dishwasher"),
]
ABOUT = [
    *("the password is wrong", "the password is expired", "das Passwort ist falsch", "a token"),
    *("I forgot my password", "the password must have 12 characters", "rotate the password"),
    *("the key is to keep it simple", "le mot de passe est obligatoire", "is that the password?"),
    *("the login page / signup2 page", "login with Google / GitHub", "max tokens: 4096"),
    *("the password for the vault is in 1Password, ask bob", "my password manager is Bitwarden"),
    *("the password is <password>", "the password is $PASS", "password is ${DB_PASSWORD}"),
    *("fix the password reset in auth2.py", "the token count is 1532", "change the password field"),
    *("we never log passwords", "test_password_reset2 passes", "key bindings: ctrl+shift+p"),
    # Programs
    "password = password.encode('utf-8')\nself.key_password = key_password",
    "except ImportError:\n    pass\n\nNow you can use :mod:`urllib3` as you would",
    "try:\n    check()\nexcept ValueError:\n    pass\nif isinstance(name, ipaddress.IPv6Address):",
    "add it to your project and pass `adapter: :cowboy2` as an option",
    "the tests pass and the code is functionally correct",
    "schema_key = 'minItems' if constraint == 'min_length' else 'maxItems'",
    'def generate_private_key(self) -> "Key":\n    """\n    Generates and returns one.',
    "do not pass 'self' as callback to 'finalize'. Then 'finalize' runs",
    # What has a session's name next to it
    '<%= if type == :observed_in_session do %>\n<span style="background: #1a6b3c; color: #e0e0e0">',
    'def handle_event("review_session", %{"session-id" => session_id}, socket) do',
    '"tool_use_id" => "toolu_a11y4Zq9Lm2Xs7Vb", "session" => 1',
    # What says what it is
    "request 49533602ef056e6c7f59846e90d90143e1456bec took 14 ms and gave 200\n"
    "src/settings/prod.env:14:API_TOKEN=$TOKEN",
    '"integrity": "sha512-OOMR7iNzDrROq2fuRdxU3NtPw/2cPxhWAVh8DWj7p+PE2Zhu9uMXgXYzkcgZuqWzZXfY3=="',
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAeD4wucX6HYd0j9/GdoPvRJO2+UWRcZhwGLmAxV1CUzPW dev@laptop",
    "WARN  token refresh took 899ms trace=681ebb30d0fbb163a58a0dc38458a713",
    "https://example.org/pepper/pepper/commit/ad0ef0e78d12a4d118dff7312b3c21b06b29a5ef",
    "UPDATE users SET password = :password WHERE id = 9389;",
    "map.get(key) returns undefined for 'badger-34'",
    'msgid "Password"\nmsgstr "Contraseña"\n#: templates/cactus.html:19',
    "DB_PASSWORD=ENC[AES256_GCM,data:ne5+ZPv3fL1k1NCVCUlx,iv:SBBtRWLCt3hrMzAp5MobTq3Ogis=,type:str]",
    "비밀번호는 nickel 금고에 있어요",
    "un souci avec le champ mot de passe de la page : l'icône ne s'affiche pas",
]


@pytest.mark.parametrize("way", WAYS)
def test_what_a_sentence_calls_a_password_goes_and_the_sentence_stays(way: str) -> None:
    found = [redacted(way.replace("{}", value)) for value in VALUES]
    assert found == [way.replace("{}", MARK)] * len(VALUES)


@pytest.mark.parametrize(("text", "secret"), WORDS)
def test_a_password_of_plain_words_goes(text: str, secret: str) -> None:
    assert secret not in redacted(text)


@pytest.mark.parametrize("text", ABOUT)
def test_a_sentence_about_passwords_stays(text: str) -> None:
    assert redacted(text) == text


def test_a_token_is_described_for_few_names_however_many_there_are() -> None:
    text = "password a1b2 " * 200
    described_tokens = list(described(text, names_in(TextWords(text))))
    assert len(described_tokens) <= 3 * 200


def test_a_memory_file_holds_no_secret_by_its_ids() -> None:
    """Ids are random letters, which may look like a name or like a value."""
    for memory, session in (
        ("mem_1m7s7pp5j59pqvn7b", "d9c0c816-4fea-452d-b122-d543d453a195"),
        ("mem_1m7szxzwhe3p3ypw1", "ba02a65b-1f4a-4b9c-bea2-a01e1fc2ea97"),
    ):
        file = (
            f"---\nid: {memory}\nkind: preference\nscope: project\ntags: [yaml]\nimpact: high\n"
            f'status: active\nsession: {session}\nlines: "5"\n---\n\nUse 2 spaces in YAML.\n'
        )
        assert redacted(file) == file


def test_the_weights_are_read_as_training_writes_them() -> None:
    pytest.importorskip("numpy")
    from training.secrets import packed

    read = weights()
    assert len(read["weights"]) > 10_000
    assert packed(read) == gzip.decompress(WEIGHTS.read_bytes())
