"""Names that promise a secret: `DB_PASSWORD`, `apiKey`, `--auth-token`, `aws.secret-access-key`.

A name is read by its words, not its letters: a `tokenizer` is not a token, a `password_file` is a
file, and a `primary_key` opens nothing. Words of other languages are known by how they begin:
`contraseña`, `şifresi`. One row a family of names; each carries texts in which a
secret must be found and texts to leave, as templates like those of `patterns`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from ltm.redact.values import words

_NAMED = (
    *(
        "pass",
        "pasw",
        "paso",
        "pw",
        "secret",
        "token",
        "key",
        "auth",
        "cred",
        "cookie",
        "sess",
        "mnemonic",
        "seed",
    ),
    *("signature", "psk", "pepper", "psw", "ssw", "salt"),
)
"""What every such name in English has in it, in small letters."""
_SPOKEN = {
    "password": (
        "kennwort|zugangscode|mot de passe|code d'accès|code d’accès|código de acceso"
        "|codice di accesso|mot_de_passe|motdepasse|palavra-passe|palavra passe|contraseñ|senha"
        "|wachtwoord|lösenord|adgangskode|passord|salasan|hasł|hasel|hesl|jelsz|şifre|parol"
        "|kata sandi|mật khẩu|парол|密码|密碼|口令|パスワード|비밀번호|패스워드|비번|암호|पासवर्ड"
        "|κωδικ"
        "|كلمة المرور|كلمة السر|סיסמ|รหัสผ่าน|mdp|clave|lozink|geslo|slaptažod|лозинк"
        "|sifre|lösen"
        "|contrasena|contaseñ|haslo|mot de pase|kenwort|пасс |парль|パス |باسور|باسوور|كلمة سر"
        "|verification code|backup code|recovery code|recovery phrase|seed phrase"
        "|secret question|magic word|secret phrase|pass phrase|palabra de paso|συνθηματικ"
        "|συνθημ|κωδ|رمز عبور|رمز المرور|كلمة مرور|পাসওয়ার্ড|พาส|解压码|合言葉|kelmet el"
        "|phrase secrète|фраза|jelmondat|salalause|kodesætning|lösenfras|wachtzin"
        "|security question|security code|türcode|code wifi|door code|ww|katasandi"
        "|parola d'ordine|暗証番号|passcode"
        "|contrasenya|pasahitz|lykilorð|parool|parole ir|adgangskod|koden|kodeord|pääsykood|sandi"
        # Phrases
        "|phrase de passe|phrase de récupération|frase de paso|frase de acceso|frase de acesso"
        "|frase-senha|frase secreta|frase segreta|frase di accesso|frase de recuperación"
        "|frase de recuperação|frase di recupero|frase semilla|wiederherstellungsphrase|herstelzin"
        "|секретная фраза|кодовая фраза|фраза восстановления"
        "|助记词|助記詞|リカバリーフレーズ|복구 구문"
        # Codes that are sent, or kept for the day on which all else is lost
        "|recovery-code|backup-code|wiederherstellungscode|notfallcode|ersatzcode|code de secours"
        "|code de récupération|codes de secours|codes de récupération|código de recuperación"
        "|código de recuperação|códigos de recuper|código de respaldo|código de backup"
        "|codice di recupero|codici di recupero|codice di riserva|codice di backup|kod zapasow"
        "|kody zapasow|kod odzyskiw|резервный код|код восстановлен|herstelcode|återställningskod"
        "|kurtarma kodu|yedek kod|záložní kód|恢复码|恢复代码|备用代码|備用代碼|バックアップコード"
        "|リカバリーコード|復旧コード|복구 코드|백업 코드|mã khôi phục|kode pemulihan"
        "|confirmation code|authentication code|authenticator code|login code|unlock code"
        "|bestätigungscode|verifizierungscode|sicherheitscode|einmalcode|freischaltcode|aktivierungscode"
        "|einmalpasswort|code de vérification|code de confirmation|code de sécurité|code de"
        " validation"
        "|código de verificación|código de confirmación|código de seguridad|código de verificação"
        "|código de confirmação|código de segurança|codice di verifica|codice di conferma"
        "|codice di sicurezza|kod weryfikacyjn|kod potwierdz|kod bezpiecz|код подтвержд|код"
        " проверки"
        "|код верификац|код безопасн|verificatiecode|bevestigingscode|beveiligingscode"
        "|verifieringskod|säkerhetskod|bekræftelseskode|doğrulama kodu|onay kodu|ověřovací kód"
        "|验证码|驗證碼|校验码|認証コード|確認コード|인증 코드|인증번호"
        "|mã xác nhận|mã xác thực|kode verifikasi"
        # Answers
        "|secret answer|security answer|secretanswer|securityanswer|secret_answer|security_answer"
        "|sicherheitsantwort|geheime antwort|réponse secrète|réponse de sécurité|respuesta secreta"
        "|respuesta de seguridad|resposta secreta|resposta de segurança|risposta segreta"
        "|risposta di sicurezza|секретный ответ|контрольный ответ|geheim antwoord|hemligt svar"
        "|密保答案|秘密の答え"
        # Short, and short for it
        "|la contra es|mi contra es|la contra del|contra del wifi"
    ),
    "key": (
        "schlüssel|clé|clef|klucz|anahtar|キー|키|ключ|chiave|chave|密钥|密鑰|金鑰|sleutel|nyckel|nøgle"
        "|nøkkel|avain|klíč|kľúč|kulcs|cheie|cheia|κλειδί|مفتاح|מפתח|कुंजी|khóa|kunci|คีย์"
    ),
    "token": "jeton|токен|トークン|토큰|令牌",
    "login": (
        "login|log in|logga in|log på|logge inn|přihlas|lépj be|đăng nhập|intră cu|giriş"
        "|melde dich|einlogg|entra con|accedi con|inicia sesión|zaloguj|зайди|войди"
        "|connecte-toi|ログイン|登录|로그인|logged in|sign in|ssh in|zugang|anmeld"
        "|zugangsdaten|creds|identifiant|credenzial|credencial|wifi|wi-fi|wlan|wachtwoorden|логин|вход|учётн"
        "|учетн|dane logowania|inlogg|tunnukse"
    ),
}
"""Words for a password or a key in other languages, in small letters and without their endings."""
_SPOKEN_KIND = {word: kind for kind, words in _SPOKEN.items() for word in words.split("|")}


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of these words by their letters: four times as quick as trying each."""
    words = list(dict.fromkeys(words))
    if len(words) < 2:
        return "".join(map(re.escape, words))
    after: dict[str, list[str]] = {}
    for word in filter(None, words):
        after.setdefault(word[0], []).append(word[1:])
    # A group only where there is a choice: each one takes time to compile.
    branches = [re.escape(letter) + any_of(rest) for letter, rest in after.items()]
    if "" in words:
        return f"(?:{'|'.join(branches)})?"
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


NAME_STEMS = (*_NAMED, *_SPOKEN_KIND)
"""What a name that may promise a secret has in it, in small letters."""


@cache
def _names(ascii_only: bool) -> re.Pattern[str]:
    spoken = [word for word in _SPOKEN_KIND if word.isascii() or not ascii_only]
    return re.compile(any_of([*_NAMED, *spoken]))


def names(lowered: str, places: Iterable[int]) -> Iterator[re.Match[str]]:
    """The names that may promise a secret at these places of a text in small letters."""
    pattern = _names(lowered.isascii())
    done = 0
    for at in places:
        if at >= done and (found := pattern.match(lowered, at)):
            yield found
            done = found.end()


# Endings of these words, in the letters of their languages.
_ENDING = re.compile(r"[a-z\u00df-\u024f\u0370-\u03ff\u0400-\u04ff\u05d0-\u05ea\u0620-\u064a]{0,8}")
_WHOLE = frozenset(
    (
        *("koden", "kodeord", "sandi", "parole ir", "parool", "login", "log in", "sign in"),
        *("clave", "mdp", "clé", "clef", "parol", "hesl", "senha", "chave", "avain", "geslo"),
        *("kulcs", "hasel", "kunci", "ww", "haslo", "باسور"),
    )
)
_INSIDE = re.compile(r"[^\W_]|[+/]")
_MANY = frozenset(("clave", "koden", "sandi", "parole ir"))
"""Words that mean other things as well."""
_SECRET = re.compile(r"api|se[cg]r[eè]t|geheim|priva|секрет")
_SECRET_KEY = re.compile(r"[ _-](?:se[cg]r[eè]t\w{0,2}|priva\w{1,3})\b")
_WIRELESS = re.compile(r"wlan|wi-?fi|wpa|wep\b|hotspot")

_MISTYPED = re.compile(r"pas+[owr]{1,4}[dt]\Z|p[as]{1,3}w[or]{2,3}[dt]?\Z")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")


# Words that only say which one, or in which form: what stands before them decides.
_AFTER = words(
    "value val str string text plain plaintext raw env base base64 b64 hex default old new"
    " current prod production staging dev development test live prev previous backup main"
    " primary secondary master root admin readonly rw ro data v"
)
# A key of these opens something.
_OPENING = words(
    "api app access account secret private auth encryption encrypt decryption crypto signing"
    " sign master service client server admin shared storage deploy ssh gpg pgp hmac jwt"
    " session rsa aes license subscription developer consumer application security data user"
    " root webhook integration ingest write management function host fernet cipher vault age"
    " redis smtp"
)
# Of these the number is told as often as the key itself: `using RSA key 0A1B…`.
_NUMBERED = words("rsa dsa gpg pgp ssh")
# A key of these opens nothing, and a token of these is a place in a list or a text.
_HARMLESS = words(
    "public primary foreign sort partition cache row hash map dict index idempotency"
    " translation i18n object lookup composite unique candidate range group routing message"
    " event press sorted search next page starting change lock verification continuation"
    " pagination cursor sync start end last first left right eof eos bos pad unk mask"
    " cancellation lex lexer parser max min input output total num special state feature label"
    " metric column field existing pull"
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
        words("passphrase mnemonic"),
        ("passphrase",),
        ('passphrase: "correct horse battery staple"', "KEY_PASSPHRASE={a12}7"),
        ('passphrase: "Enter your passphrase"', "passphrase: str"),
    ),
    Family(
        "password",
        words(
            "password passwd passcode pass pwd psw pw userpass storepass keypass requirepass"
            " sshpass"
            " psk passwort bindpw rootpw adminpw dbpw masterauth authtok"
        ),
        ("password", "passwd", "passwort", "pass", "pwd", "pw"),
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
        words("token"),
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
        words("secret pepper salt passwordsalt"),
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
        words("key"),
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
        words("authorization auth credential credentials creds cred"),
        (),
        ("authorization: {h40}", 'Authorization: Token {h40}"', '"auth": "{a39}4="'),
        ("auth: true", "credentials: 'same-origin'", "Authorization: required", "auth = {h40}"),
        weak=True,
    ),
    Family(
        "session",
        words("cookie session sessid phpsessid jsessionid sessionid sid seed"),
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
        words("signature"),
        (),
        ("signature={a43}",),
        ("signature: (x: int) -> str", "signature={h64}"),
        weak=True,
    ),
)


# They end as a password does, and are none.
_NO_PASS = words(
    "askpass bypass compass encompass surpass trespass overpass underpass onepass lastpass"
)
# A key of these is made up by a person, as a password is.
_SHARED = words("shared preshared wpa wpa2 wep wifi wlan")
# A secret of these as well.
_SIGNING = words(
    "client jwt session cookie app hmac signing webhook auth api consumer oauth token shared"
)
_DIGESTS = words("hash hashed digest md sha sha1 md5 bcrypt ntlm nt lm hex crypt")
_PASSWORDS = next(family.words for family in FAMILIES if family.kind == "password")


@dataclass(frozen=True, slots=True)
class Promise:
    """What a name says of its value, and whether it often says so in vain."""

    kind: str
    weak: bool
    chosen: bool = False
    """True if a person thought it up, so that it may look like anything."""


def _is_password(word: str) -> bool:
    return word in _PASSWORDS or word.startswith("passwor")


def _promise(kind: str, weak: bool = False, *, shared: bool = False) -> Promise:
    return Promise(kind, weak, kind in ("password", "passphrase") or shared)


_PASSWORD = _promise("password")


def spoken_promise(lowered: str, found: re.Match[str]) -> tuple[int, Promise] | None:
    """What a word of another language promises, and where it ends with its ending; or None.

    A word for any key is believed where the text also speaks of an API or a wireless network.
    """
    start, end = found.span()
    kind = _SPOKEN_KIND.get(found[0], "")
    if not kind:
        return None
    ending = _ENDING.match(lowered, end)
    if found[0] == "mdp":
        ending = None
    if found[0] in _WHOLE and _INSIDE.match(lowered[start - 1 : start]):
        return None  # an enclave is not a `clave`
    if found[0] == "clave" and lowered.endswith("palabra ", 0, start):
        return None  # what a text is about
    end = ending.end() if ending else end
    if kind == "key" and (secret := _SECRET_KEY.match(lowered, end)):
        end = secret.end()
    if found[0].isascii() and _INSIDE.match(lowered[end : end + 1]):
        return None
    if kind == "login":
        return end, Promise(kind, weak=True)
    many = found[0] in _MANY or lowered[start:end] == "parole"
    if kind == "password" and not many:
        return end, _PASSWORD
    line = lowered[max(lowered.rfind("\n", 0, start), start - 80) + 1 : end + 24]
    if _WIRELESS.search(line):
        return end, _PASSWORD
    around = lowered[max(0, start - 8) : end + 24]
    return end, _promise(kind, kind == "password" or (kind == "key" and not _SECRET.search(around)))


def is_label(value: str) -> bool:
    """Whether this is nothing but a word for a password: what a form says next to its field."""
    lowered = value.lower()
    found = _names(False).match(lowered)
    if found is None or _SPOKEN_KIND.get(found[0], "login") == "login":
        return False
    ending = _ENDING.match(lowered, found.end())
    return (ending.end() if ending else found.end()) == len(value)


@lru_cache(maxsize=1024)
def promise(name: str, word_before: str = "") -> Promise | None:
    """What a name promises, or None. A `key` alone is read with the word before it: `API key`."""
    parts = [part.lower() for part in _PART.findall(name) if not part.isdigit()]
    while parts and parts[-1] in _AFTER:
        parts.pop()
    if not parts:
        return None
    last = "password" if _MISTYPED.match(parts[-1]) else parts[-1]
    if parts[-1] in _DIGESTS and any(_is_password(part) for part in parts):
        return Promise("password-hash", weak=True)
    before = parts[-2] if len(parts) > 1 else word_before.lower() if len(last) < 6 else ""
    if before in _HARMLESS or last in _NO_PASS:
        return None
    if last == "key" and before in _SHARED:
        return _promise("password")
    for family in FAMILIES:
        ends = family.endings and last.endswith(family.endings)
        if last in family.words or ends:
            opens = ends or last == "authorization" or before in _OPENING
            if last.endswith("signingkey") or (len(parts) == 1 and before in _NUMBERED):
                opens = False
            # Tests pass and flags are passed: alone they say little.
            alone = last in ("pass", "mnemonic") and len(parts) == 1 and name[0] != "-"
            shared = family.kind == "secret" and before in _SIGNING
            return _promise(family.kind, (family.weak and not opens) or alone, shared=shared)
    return None
