"""Names that promise a secret: `DB_PASSWORD`, `apiKey`, `--auth-token`, `aws.secret-access-key`.

A name is read by its words, not its letters: a `tokenizer` is no token, a `password_file` is a
file, and a `primary_key` opens nothing. One row a family of names; each carries texts in which a
secret must be found and texts to leave, as templates like those of `core.secrets`. Standard library
only; no I/O.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

WORD = re.compile(
    "pass|pw|secret|token|key|auth|cred|cookie|sess|mnemonic|seed|signature"
    "|kennwort|mot de passe|contraseña|senha|wachtwoord|lösenord|adgangskode|salasana|hasło|heslo"
    "|jelszó|şifre|parola|kata sandi|mật khẩu|парол[ья]|密码|密碼|口令|パスワード"
    "|비밀번호|암호|पासवर्ड|psk|mdp|clave"
)
"""What every such name has in it, in small letters."""

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that only say which one, or in which form: what stands before them decides.
_AFTER = _words(
    "value val str string text plain plaintext raw env base base64 b64 hex default old new"
    " current prod production staging dev development test live prev previous backup main"
    " primary secondary master root admin readonly rw ro data"
)
# A key of these opens something.
_OPENING = _words(
    "api app access account secret private auth encryption encrypt decryption crypto signing"
    " sign master service client server admin shared storage deploy ssh gpg pgp hmac jwt"
    " session rsa aes license subscription developer consumer application security data user"
    " root webhook integration ingest write management function host fernet cipher vault age"
)
# A key of these opens nothing, and a token of these is a place in a list or a text.
_HARMLESS = _words(
    "public primary foreign sort partition cache row hash map dict index idempotency"
    " translation i18n object lookup composite unique candidate range group routing message"
    " event press sorted search next page starting change lock verification continuation"
    " pagination cursor sync start end last first left right eof eos bos pad unk mask"
    " cancellation lex lexer parser max min input output total num special state feature label"
    " metric column field"
)


@dataclass(frozen=True, slots=True)
class Family:
    """Names that promise the same kind of secret."""

    kind: str
    words: frozenset[str]
    """Their last word."""
    endings: tuple[str, ...]
    """How their last word may end: `PGPASSWORD`, `authtoken`."""
    finds: tuple[str, ...]
    leaves: tuple[str, ...]
    weak: bool = False
    """True if such a name often holds something harmless, so that the value must look the part."""


FAMILIES: tuple[Family, ...] = (
    Family(
        "passphrase",
        _words("passphrase mnemonic"),
        ("passphrase",),
        ('passphrase: "correct horse battery staple"', "KEY_PASSPHRASE={a12}7"),
        ('passphrase: "Enter your passphrase"', "passphrase: str"),
    ),
    Family(
        "password",
        _words(
            "password passwd passcode pass pwd pw userpass storepass keypass requirepass psk mdp"
            " passwort kennwort clave 암호"
            " passe contraseña senha wachtwoord lösenord adgangskode salasana hasło heslo jelszó"
            " şifre parola sandi khẩu пароль пароля 密码 密碼 口令 パスワード 비밀번호 पासवर्ड"
        ),
        ("password", "passwd"),
        (
            'password = "hunter2"',
            "password: hunter2",
            "PGPASSWORD=letmein",
            "pwd={a9}5;",
            '"password": "letmein"',
            "--password {a9}5",
            "spring.datasource.password={a9}5",
            "the password for staging is {a9}5",
            "I used {a20}5 as the password",
            "machine x.org login me password {a9}5",
            "<dbPassword>{a9}5</dbPassword>",
            'setPassword("{a9}5")',
            "пароль: {a9}5",
            '{"name": "DB_PASSWORD", "value": "{a9}5"}',
            "password%3D{a9}5%26user%3Dme",
            "password:\n  {a9}5",
            'DB_PASSWORD="p4ss w0rd and more"',
            "user=me&pass={a9}5",
        ),
        (
            "password: string",
            'password = os.environ["DB_PASSWORD"]',
            "password: required",
            "password = getpass.getpass('Password: ')",
            "f(password=password1)",
            "PASS: test_2fa",
            "password_hash = compute(x1)",
            "password VARCHAR(255)",
            "12 passed: test_b1, test_b2",
            'placeholder="Enter your password"',
            "password: ${DB_PASSWORD}",
            "password=<secret>",
            '"password": "^[a-zA-Z0-9]{8,}$"',
            "password: !vault |",
            "password_file: /run/a1.txt",
            'exists and pass","status":"open1"',
            "the --password option of login",
            'CHALLENGE_PASSWORD: "challengePassword"',
            "请输入密码：请再输入一次密码",
            "bypass: value1",
            "compass = north1",
        ),
    ),
    Family(
        "token",
        _words("token"),
        ("token",),
        (
            "token={h40}",
            'accessToken: "{a32}"',
            "--token {a24}",
            "use token {a35}7",
            "//npm.example.com/:_authToken={h8}-{h4}-{h4}-{h4}-{h12}",
            "AUTH_TOKEN={a31}4",
            "?access_token={a29}3&page=2",
            'var token string = "{a31}4"',
            "token: |\n  {a39}4",
        ),
        (
            "token = get_token()",
            'token: "keyword"',
            "the token: expired",
            "max_tokens: 128000",
            "const token = process.env.TOKEN",
            "next_page_token: {a31}4",
            "tokenizer = {a31}4",
            "token = tokens[3]",
            'token += f":{self.token2}"',
            "invalid token: unexpected end at line 12",
            "TOKEN=$TOKEN",
            "token: NEWLINE2",
            "login(token=token2, x=1)",
            "cost per token: $0.000015",
        ),
    ),
    Family(
        "secret",
        _words("secret"),
        ("secret",),
        (
            "client_secret: {h8}-{h4}-{h4}-{h4}-{h12}",
            'JWT_SECRET="{a31}4"',
            "SESSION_SECRET=words-without-any-digits",
            "staging,CLIENT_SECRET,{a31}4,2024-01-01",
            "### CLIENT_SECRET\n{a31}4",
            "'client_secret' => '{a31}4'",
            "CLIENT_SECRET ?= {a31}4",
            "client_secret → {a31}4",
            'variable "secret" {\n default = "{h32}"\n}',
        ),
        (
            "secretName: my-secret-v2",
            "secret = await vault.read(path1)",
            "secret santa 2024",
            'secret: "db-credentials"',
            "arn:aws:secretsmanager:us-west-2:{d12}:secret:app-{a6}",
            "a secretary1 = {a31}4",
            "secret/data/app2",
        ),
    ),
    Family(
        "key",
        _words("key"),
        tuple(f"{word}key" for word in sorted(_OPENING)),
        (
            "API_KEY: {a32}",
            'X-Api-Key: {h32}"',
            'apiKey="{a31}4"',
            "api key is {a31}4",
            "aws_secret_access_key = {b39}4",
            "AWS Secret Access Key [None]: {b39}4",
            "private_key = 0x{h64}",
            "key={a31}4",
            "SECRET_KEY_BASE={h128}",
            "| API_KEY | {a31}4 |",
        ),
        (
            "cache_key: {h64}",
            "key {h40}",
            'key: "user-profile-2"',
            "primary_key=True",
            "key=lambda x: x[1]",
            "private_key: ./certs/key2.pem",
            "private_key: PKCS7PrivateKeyTypes,",
            '"AWS::ApiGateway::ApiKey": "{h16}"',
            "ssh-key1 monkey = {a31}4",
            "public_key = {a31}4",
            "The key is to use 2 spaces",
            'api_key: "test-key-123"',
        ),
        weak=True,
    ),
    Family(
        "credential",
        _words("authorization auth credential credentials creds cred"),
        (),
        ("authorization: {h40}", 'Authorization: Token {h40}"', '"auth": "{a39}4="'),
        ("auth: true", "credentials: 'same-origin'", "Authorization: required", "auth = {h40}"),
        weak=True,
    ),
    Family(
        "session",
        _words("cookie session sessid phpsessid jsessionid sessionid sid seed"),
        (),
        ("Cookie: sessionid={a31}4; theme=dark", "Set-Cookie: session={a43}.{a27}; Path=/"),
        (
            "session = requests.Session()",
            "session: {h8}-{h4}-{h4}-{h4}-{h12}",
            "seed: 1234567",
            "cookie: theme=dark",
        ),
        weak=True,
    ),
    Family(
        "signature",
        _words("signature"),
        (),
        ("signature={a43}",),
        ("signature: (x: int) -> str", "signature={h64}"),
        weak=True,
    ),
)


@dataclass(frozen=True, slots=True)
class Promise:
    """What a name says of its value, and whether it often says so in vain."""

    kind: str
    weak: bool


@lru_cache(maxsize=1024)
def promise(name: str, word_before: str = "") -> Promise | None:
    """What a name promises, or None. A `key` alone is read with the word before it: `API key`."""
    words = [part.lower() for part in _PART.findall(name) if not part.isdigit()]
    while words and words[-1] in _AFTER:
        words.pop()
    if not words:
        return None
    last = words[-1]
    before = words[-2] if len(words) > 1 else word_before.lower() if len(last) < 6 else ""
    if before in _HARMLESS:
        return None
    for family in FAMILIES:
        ends = family.endings and last.endswith(family.endings)
        if last in family.words or ends:
            opens = before in _OPENING or ends or last == "authorization"
            # Tests pass, flags are passed, and `clave` is any key: alone they say little.
            alone = last in ("pass", "passe", "clave") and len(words) == 1
            return Promise(family.kind, (family.weak and not opens) or alone)
    return None
