"""Secrets go, everything else stays."""

from __future__ import annotations

import base64
import random
import re
import subprocess
import sys
import textwrap
import uuid
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.redact.key_names import FAMILIES, promise
from ltm.redact.patterns import SHAPES, Shape
from ltm.redact.redact import Redacted, redact, redacted
from tests.effort import ALL
from tests.redact.secret_set import fill, filled
from tests.redact.shape_samples import FIND, LEAVE
from tests.rows import for_each

MARK = re.compile(r"\[redacted:[a-z0-9-]+\]")
FIND_NAMED = [(family.kind, sample) for family in FAMILIES for sample in family.finds]
LEAVE_NAMED = [sample for family in FAMILIES for sample in family.leaves]
SEEDS = range(5)


def survives(secret: str, text: str) -> bool:
    """Whether eight characters in a row of a secret are still in a text."""
    plain = MARK.sub("", text)
    return any(secret[n : n + 8] in plain for n in range(len(secret) - 7))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_secret_is_known_by_its_shape(seed: int) -> None:
    def check(row: tuple[str, str]) -> None:
        kind, sample = row
        text, secret = filled(sample, seed)
        for around in ("{}", "Please use {} for staging.", "`{}`", '"{}",', "({})", "x\n{}\ny"):
            done = redact(around.replace("{}", text))
            assert kind in done.kinds, done
            assert not survives(secret, done.text)

    for_each(FIND, check)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_secret_is_known_by_its_name(seed: int) -> None:
    def check(row: tuple[str, str]) -> None:
        kind, sample = row
        text, secret = filled(sample, seed)
        done = redact(text)
        assert kind in done.kinds, done
        assert not survives(secret, done.text)

    for_each(FIND_NAMED, check)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_only_looks_like_a_secret_stays(seed: int) -> None:
    def check(sample: str) -> None:
        text = fill(sample, seed)
        assert redact(text) == Redacted(text, ()), redact(text)

    for_each(LEAVE + LEAVE_NAMED, check)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
def test_every_row_of_the_table_finds_a_text_of_its_kind(shape: Shape) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", shape.kind)
    assert all(shape.hints)
    texts = [fill(sample) for kind, sample in FIND if kind == shape.kind]
    found = [
        match
        for text in texts
        if any(hint in text for hint in shape.hints)
        if (match := shape.regex().search(text))
    ]
    assert found
    for match in found:
        assert not shape.starts or match.string[match.start() :].startswith(shape.hints)


def test_no_sample_in_the_tables_is_itself_taken_for_a_secret_of_a_provider() -> None:
    """What the repository holds must not set off anybody's scanner."""
    import ltm.redact.key_names
    import ltm.redact.patterns

    for module in (ltm.redact.key_names, ltm.redact.patterns):
        with open(str(module.__file__), encoding="utf-8") as file:
            kinds = set(redact(file.read()).kinds)
        assert kinds <= {family.kind for family in FAMILIES}


@pytest.mark.parametrize("said", ["{} key is", "{} key:", "the {} key was", "{} key =", "{}-key:"])
def test_a_key_is_judged_by_the_word_before_it(said: str) -> None:
    """An id in hex is a secret only where the words around it say so."""
    value = fill("{h40}")
    assert redact(f"{said.format('API')} {value}").kinds == ("key",)
    assert redact(f"{said.format('cache')} {value}").kinds == ()
    assert redact(f"{said.format('public')} {fill('{a31}4')}").kinds == ()


def test_an_older_key_is_known_by_the_letters_in_its_middle() -> None:
    """Whatever stands around them: these eight are in base64 what the maker is called."""
    text = fill("sk-{w20}") + "T3Blbk" + "FJ" + fill("{w20}")
    assert redact(text) == Redacted("[redacted:openai-key]", ("openai-key",))


@pytest.mark.parametrize("head", ["Authorization: Basic ", "basic ", "-H 'basic%20"])
def test_a_name_and_password_in_base64_are_found_by_their_colon(head: str) -> None:
    for name in ("me:pass word 1", "me:pwd", "someone@example.org:x" * 3):
        value = base64.b64encode(name.encode()).decode()
        done = redact(f"{head}{value} and on")
        assert done.text == f"{head}[redacted:basic-auth] and on"
        assert done.kinds == ("basic-auth",)


@pytest.mark.parametrize(
    "text",
    [
        "Basic instructions",
        "the Basic YWJjZGVmZ2hpamts of it",  # no colon inside
        "basic operationsx=",  # no base64
        "Visual Basic version12",
    ],
)
def test_words_after_basic_are_no_password(text: str) -> None:
    assert redact(text).text == text


def test_the_text_around_a_secret_stays_readable() -> None:
    token = fill("ghp_{a36}")
    assert redact(f'curl -H "Authorization: token {token}" https://api.github.com').text == (
        'curl -H "Authorization: token [redacted:github-token]" https://api.github.com'
    )
    assert redacted(f'{{"password": "{fill("{a11}7")}", "user": "me"}}') == (
        '{"password": "[redacted:password]", "user": "me"}'
    )
    assert redacted(f"postgres://app:{fill('{a14}')}@db:5432/x?sslmode=require") == (
        "postgres://app:[redacted:password]@db:5432/x?sslmode=require"
    )
    assert redacted(fill("Server=a;Uid=sa;Pwd={a9}5;Encrypt=True")) == (
        "Server=a;Uid=sa;Pwd=[redacted:password];Encrypt=True"
    )


def test_kinds_are_told_once_each_in_the_order_they_stand() -> None:
    text = fill("npm_{a36} then ghp_{a36} then npm_{a36}\n<private>x</private>")
    assert redact(text).kinds == ("private", "npm-token", "github-token")


def test_the_shape_says_more_than_the_name() -> None:
    assert redact(fill("password = ghp_{a36}")).kinds == ("github-token",)


PRIVATE_KEY = "-----BEGIN {0} PRIVATE KEY-----\n{1}\n-----END {0} PRIVATE KEY-----"


@pytest.mark.parametrize("label", ["RSA", "EC", "OPENSSH", "ENCRYPTED"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\\n", "\n    ", "\n+", "\n   12→"])
def test_a_private_key_goes_as_a_whole_however_its_lines_are_broken(
    label: str, newline: str
) -> None:
    body = textwrap.fill(fill("{a600}"), 64)
    block = PRIVATE_KEY.format(label, body).replace("\n", newline)
    done = redact(f"before\n{block}\nafter")
    assert done.text == "before\n[redacted:private-key]\nafter"


def test_a_private_key_that_is_cut_off_goes_to_its_last_line() -> None:
    body = textwrap.fill(fill("{a200}"), 64)
    text = PRIVATE_KEY.format("RSA", body).partition("-----END")[0]
    assert redact(f"a {text}").text == "a [redacted:private-key]"


def test_the_header_of_a_key_alone_is_not_a_key() -> None:
    text = 'if line.startswith("-----BEGIN RSA PRIVATE KEY-----"): parse(line)'
    assert redacted(text) == text


@pytest.mark.parametrize("sample", ["ghp_{a36}", "sk-ant-api03-{w93}AA", "AKIA{u16}", "npm_{a36}"])
@pytest.mark.parametrize("wrap", ["\n", "\r\n", "\\\n", "\n    ", '"\n  "', "\n> "])
def test_a_secret_broken_over_lines_is_found(sample: str, wrap: str) -> None:
    for seed in SEEDS:
        text = fill(sample, seed)
        middle = len(text) // 2
        broken = f"see:\n{text[:middle]}{wrap}{text[middle:]}\nThe end of it."
        done = redact(broken)
        assert not survives(text[:middle], done.text)
        assert not survives(text[middle:], done.text)
        assert done.text.endswith("\nThe end of it.")


@pytest.mark.parametrize("kind", ["github-token", "anthropic-key", "aws-key-id", "stripe-key"])
def test_a_secret_in_base64_is_found_without_a_name(kind: str) -> None:
    for of, sample in FIND:
        if of == kind:
            code = base64.b64encode(fill(sample).encode()).decode()
            assert redact(f"data: {code}\n").text == f"data: [redacted:{kind}]\n"


def test_a_private_key_in_base64_is_found_and_a_certificate_is_not() -> None:
    body = textwrap.fill(fill("{a600}"), 64)
    key = base64.b64encode(PRIVATE_KEY.format("RSA", body).encode()).decode()
    public = base64.b64encode(f"-----BEGIN CERTIFICATE-----\n{body}".encode()).decode()
    assert redacted(f"client-data: {key}") == "client-data: [redacted:private-key]"
    assert redacted(f"certificate-authority-data: {public}").endswith(public)


def test_a_secret_in_percent_codes_is_found() -> None:
    value = quote(fill("{a20}/{a10}+{a8}=="), safe="")
    assert redacted(f"AWS_SECRET_ACCESS_KEY={value}") == "AWS_SECRET_ACCESS_KEY=[redacted:key]"
    assert redact(f"x?next=%2Fa%3Ftoken%3D{fill('ghp_{a36}')}").kinds == ("github-token",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <private>b</private> c", "a [private] c"),
        ("a <PRIVATE>b</Private> c", "a [private] c"),
        ("a <private reason='x'>b\nb</private> c", "a [private] c"),
        ("a <private>b <private>c</private> d</private> e", "a [private] e"),
        ("a <private>b", "a [private]"),
        ("a <private>b <private>c</private> d", "a [private]"),
        ("<private>a</private><private>b</private>", "[private][private]"),
        ("a </private> b", "a </private> b"),
        ("the private <privately> held", "the private <privately> held"),
    ],
)
def test_what_is_marked_private_is_dropped(text: str, expected: str) -> None:
    """details 1.5: `<private>…</private>` never reaches a disk."""
    assert redacted(text) == expected


HASH = "0123456789abcdef0123456789abcdef01234567"
BENIGN = [
    f"commit {HASH}",
    f"index {HASH[:7]}..{HASH[8:15]} 100644",
    str(uuid.UUID(int=2**127 + 12345)),
    f'"integrity": "sha512-{base64.b64encode(random.Random(1).randbytes(64)).decode()}"',
    f"sha256:{HASH}{HASH[:24]}",
    f"data:image/png;base64,{base64.b64encode(random.Random(2).randbytes(3000)).decode()}",
    base64.b64encode(random.Random(3).randbytes(3000)).decode(),
    "mem_01jz8k3m5n7p9q1r3s5t7v9w1x replaces mem_01jz8k3m5n7p9q1r3s5t7v9w1y",
    "API_KEY=<your-key>",
    "token: xxxxxxxxxxxxxxxxxxxx",
    "export TOKEN=$TOKEN2",
    "          GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}",
    "SECRET_KEY=changeme",
    "import { tokenize2 } from '@scope/auth-token-v2';",
    '  File "/srv/app/secrets2.py", line 12, in load_key3',
    ".token.key2{color:#a1b2c3;margin:1px}",
    '"@types/jsonwebtoken": "^9.0.5", "csrf-token": "^1.2.3"',
    "-rw-r--r-- 1 dev dev 1234 May 11 10:11 src/auth/token_v2.py",
    '{"type":"tool_use","id":"toolu_01A1b2C3d4E5f6G7h8J9k1L2","name":"Bash"}',
]


@pytest.mark.parametrize("text", BENIGN, ids=lambda text: text[:30])
def test_hashes_ids_and_code_stay(text: str) -> None:
    assert redacted(text) == text


PIECES = st.sampled_from(
    [
        *(fill(sample) for _, sample in FIND[::5] + FIND_NAMED[::3]),
        *("password=", "token: ", '"', "'", "\n", " ", "_", "-", "A", "9", "[redacted:token]"),
        *(
            "<private>",
            "</private>",
            "[private]",
            "-----BEGIN PRIVATE KEY-----",
            "Bearer ",
            "://a:",
        ),
    ]
)


def test_many_secrets_right_after_one_another_are_all_taken_out() -> None:
    key = "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"
    assert redact(key * 12).text == "[redacted:langsmith-key]" * 12


@given(st.lists(PIECES, max_size=12).map("".join))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(text).text
    assert redact(once).text == once


@given(st.text(max_size=300))
def test_any_text_is_taken_and_a_text_without_findings_is_the_same(text: str) -> None:
    done = redact(text)
    if not done.kinds:
        assert done.text == text


def test_capitals_that_grow_when_lowered_do_not_shift_the_cut() -> None:
    text = "İİİ password: " + fill("{a11}7") + " İ"
    assert redacted(text) == "İİİ password: [redacted:password] İ"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("DB_PASSWORD", "password"),
        ("PGPASSWORD", "password"),
        ("awsSecretAccessKey", "key"),
        ("SECRET_KEY_BASE", "key"),
        ("apikey", "key"),
        ("X-Auth-Token", "token"),
        ("password_file", None),
        ("tokenizer", None),
        ("primaryKey", None),
        ("monkey", None),
        ("secretary", None),
        ("AWS_ACCESS_KEY_ID", None),
        ("DB_PASSWORD_OLD", "password"),
        ("password2", "password"),
        ("value", None),
        ("test_1", None),
        ("123", None),
    ],
)
def test_a_name_is_read_by_its_words(name: str, kind: str | None) -> None:
    said = promise(name)
    assert (said.kind if said else None) == kind


HOSTILE = [
    "'token=' * 150_000",
    "'eyJaaaaaaaa-' * 80_000",
    "'eyJaaaaaaaa.' * 80_000",
    "'password=\"' * 100_000",
    "'ghp_-' * 200_000",
    "'-----BEGIN PRIVATE KEY-----' * 37_000",
    "'-----BEGIN PRIVATE KEY-----' + 'A' * 1_000_000",
    "'a' * 1_000_000",
    "'://' * 330_000",
    "'://a:' * 200_000",
    "'key ' * 250_000",
    "'<private>' * 110_000",
    "'<private' * 120_000",
    "'Z2hwX/' * 160_000",
    "'curl -u ' * 120_000",
    "'ghp_' + 'A1b2' * 250_000",
    "('ghp_' + 'A1b2' * 9 ) * 25_000",
    "'token\\n' * 160_000",
    "'secret: ' + ' ' * 1_000_000",
    "'sk-ant-\\n' * 120_000",
    "'xoxb-1\\n' * 140_000",
    "'user|password\\n' * 70_000",
    "'password for a b c d e f ' * 40_000",
    "'kind: Secret\\ndata:\\n  a: b\\n' * 40_000",
    "'login admin / ' * 70_000",
    "'密码是' * 300_000",
    "'password: |\\n' * 80_000",
    "r'\\\\n' * 300_000",
    "'{\"' + r'\\\\\"' * 300_000",
    "'PIN of a b c d ' * 60_000",
    "'> password:\\n' * 80_000",
    "'contraseña de la ' * 60_000",
    "'echo a | sudo ' * 70_000",
    "'select password ' * 60_000",
    "'seed phrase: abc abc ' * 50_000",
    "'NAME  PASSWORD\\n' * 60_000",
]


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_megabyte_is_done_with(text: str) -> None:
    """In a process of its own, which the limit ends: quadratic work would take far longer."""
    size = 1_000_000 if ALL else 250_000
    code = f"from ltm.redact.redact import redact; redact(({text})[:{size}])"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=size / 3_000)
