"""What a value looks like: random, a placeholder, or a reference to one."""

from __future__ import annotations

import re
from functools import lru_cache


def words(text: str) -> frozenset[str]:
    """The words of a list that is written as a text."""
    return frozenset(text.split())


# Written where a secret would stand: from its first character on, or anywhere.
_PLACEHOLDER = re.compile(
    r"""(?:env|fd|file):\w+\Z|<[^>]*>?|\{\{|\{[\w. ]*\}|\[[\w :.-]*\]|\([\w :.-]*\)|!\w+\Z
    |\$\d[\d.,]*\Z|\$\(|\$\{?\w+\}?[/|]?\Z|%\(\w+\)|%\w+%\Z|%[a-z](?![a-z0-9])|\*{3}|\#\{|@\w+@\Z""",
    re.VERBOSE,
)
_INSIDE = re.compile(
    r"""\.\.\.|(?<![^\s…]{8})…|xxxx|\*\*\*\*|\[redacted:|\[private\]|\$\{|\{\{|\#\{
    |\{[a-z_][\w.]*\}|<[\w -]+>
    |(?P<word>your|my-?own|sample|dummy|fake|placeholder|insert|replace|todo|redacted|masked|removed
    |hidden|(?:secret|key|token)[-_]?here|(?:example|change[-_]?me|changeit(?!-\d))(?![!#$%&*?@]?\d)
    )(?![a-z])""",
    re.VERBOSE,
)
_INSIDES = (
    *("...", "…", "xxxx", "****", "[", "{", "<", "your", "my", "sample", "dummy", "fake", "todo"),
    *("placeholder", "insert", "replace", "redacted", "masked", "removed", "hidden", "here"),
    *("example", "change"),
)
"""One of these is in every text that the pattern can be found in."""
_STOP_WORDS = (
    "string str text bytes char varchar number int integer float bool boolean any object"
    " unknown void never self this true false null none nil undefined nan yes no on off required"
    " optional hidden password passwd pass passphrase pwd secret secrets token tokens key keys"
    " apikey bearer basic auth authorization credential credentials user username login admin"
    " example test testing empty default value values name names type kind email input output"
    " label field format prompt env changeme invalid missing expired wrong incorrect encrypted"
    " passwort pw fail foobared plaintext base64 hashed masked sha256 sha512 sha-256 sha-512 argon2"
    " argon2id pbkdf2 bcrypt scrypt 1password"
)
_STOP = words(_STOP_WORDS)
# Said of a password where it would stand: by whole words, or by how they begin.
_TALK = words(
    "wrong incorrect correct valid set unset weak strong short long same different changed"
    " needed visible stored salted known unknown safe secure insecure leaked compromised public"
    " private random unique old new okay fine good bad broken gone here there below above"
    " somewhere something nothing anything everything mandatory case-sensitive plain cleartext"
    " up-to-date logged printed sent given available disabled enabled identical temporary temp"
    " shared reused rotated deleted forbidden accepted rejected denied refused ignored provided"
    " supplied defined unchanged refreshed stdin prompt interactive inherit files siehe pflicht"
    " really publicly properly correctly probably randomly temporarily automatically locally"
)
_MODAL = words(
    "minimum maximum characters letters digits symbols least most must should will would can"
    " could please enter your reset forgot forgotten policy length strength protected always"
    " never too also only just still being been not cannot does see use used code confirm repeat"
    " option options flag flags requires argument arguments parameter parameters switch"
)
_NO_PHRASE = _STOP | _MODAL
_TALK_STEM = re.compile(
    r"falsch|abgelauf|ungültig|korrekt|leer\b|gleich|geheim|sicher|unsicher|nötig|erforder|inkorrekt"
    r"|inval|obligat|obligator|expir|vide\b|vac[ií]|vazi|vuot|mauvais|fauss?|errad|errat|errón"
    r"|incorre|sbagliat|scadut|scorrett|corrett|obrigat|obbligat|requis|requer|richiest"
    r"|nieprawid|wymagan|niepopr|pust|неверн|невірн|неправ|обязат|обов|пуст|истек|истёк|слишком"
    r"|измен|сброш|yanlış|hatalı|geçersiz|gerekli|zorunlu|boş|onjuist|verplicht|ongeldig|verlop"
    r"|vereist|leeg|felaktig|ogiltig|krävs|forkert|påkræv|ugyldig|påkrevd|väärä|pakoll|virheell"
    r"|nesprávn|neplatn|povinn|helytelen|kötelező|greșit|obligator|λάθος|λανθασμ"
    # At least, at most, too short, contains
    r"|mindestens|höchstens|vähintään|enintään|minst\b|högst|mindst|højst|alespoň|nejméně|nejvýše"
    r"|legalább|legfeljebb|najmniej|conajmniej|maksym|minim|zumindest|minstens|almeno|немен|щонайм"
    r"|příliš|liian|túlságos|prea\b|trop\b|troppo|demasiad|至少|最少|不少于|包含|必须|必須|不能|需要"
    r"|最低|以上|少なくとも|최소|이상"
)
_FUNCTION = words(
    "the a an in on at to for of no by as and or but with from that this it its it's be is are"
    " was so if then than both all any some each i you he she we they my our his her their what"
    " where when who how why which there here im in der die das den dem ein eine einen zu nicht"
    " noch auf bei dans le les un une el los una não nao na em no nel non su w nie не в на у het"
    " een niet op det den inte ikke ei ja je ne se si que qui che"
)
_PARTICIPLE = re.compile(
    r".*(?:[^e]ed|ing|able|ible|less|ful|iert|bar|lich|ée?|ad[ao]|id[ao]|at[ao]|ut[ao]|нный|нен|но)\Z"
)
# Parts of what a program calls a value: `new_pw`, `rawInput`.
_FIELDS = _STOP | words(
    "pw creds cred arg args param params config cfg conf data raw plain new old hash hashed"
    " digest result response resp req request session cookie form payload body opts options"
    " settings prompt getenv environ state props ctx context attrs node obj match tmp temp"
    " encoded decoded line word entry item row field buf buffer"
)
_TYPE = re.compile(
    r"(?:Optional|Union|List|Dict|Option|Vec|Array|Promise|Record|Map|Set|Box|Arc)[\[<]"
)
_URL = re.compile(
    r"[a-z][a-z0-9+.-]*://|data:|mailto:|sha\d{1,3}[-:]|urn:|arn:|=?dword:",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"""[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)*[?!]?[(\[]""", re.VERBOSE
)
_ATTRIBUTE = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+\Z")
# `String?`, `Int32?`, `user?.name`, `a ?? b`, `a?b:c`
_QUESTION = re.compile(
    r"(?:String|ID|Int|Boolean|Float)!\Z|(?:[A-Za-z_.<>]*|[Uu]?[Ii]nt\d+|[Ff]loat\d+)\?\Z|[^?]*\?[.?]|[A-Za-z_.]*\?[\w.]*:|\w?\?\w?\Z"
)
# `${NAME:?NAME must be set}`
_REQUIRED = re.compile(r"\?[A-Za-z_]+\Z")
_PATH = re.compile(
    r"(?:[~.]{0,2}/|[A-Za-z]:\\)?(?:[\w.@ -]+[/\\])+[\w.@-]+\.(?:[a-z][A-Za-z]{0,4}|[A-Z]{1,5})\Z"
    r"|[\w.@-]+\.(?i:pem|key|crt|cer|p12|pfx|jks|txt|md|ya?ml|json|toml|ini|cfg|conf|env|gpg|asc|py|js"
    r"|tsx?|jsx|go|rs|rb|php|java|sh|sql|xml|html?|css|log|csv|zip|t?gz|lock|kdbx|pub|service|tf)\Z"
    r"|[~.]{0,2}/"
)
_REGEX = re.compile(
    r"\^.*\$\Z|\.[*+]|(?:required|nullable|sometimes)\||.*(?:a-zA|A-Za|A-Z0|a-z0|0-9[aA]-|\[[aA0]-|\\[dws][+*{])"
)
_VERSION = re.compile(r"[\^~<>=v]*\d+(?:\.(?:\d+|x|\*))+(?:[-+.]\w+)*\Z")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T[\d:.+Z-]*)?\Z")
_NUMBER = re.compile(
    r"[-+]?(?:\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?|0x[0-9a-f]{1,16})[a-z]{0,2}\Z", re.IGNORECASE
)
_WORDY = re.compile(r"[A-Z]?[a-z]+(?:[A-Z][a-z]+)*\d{0,4}\Z|[A-Z]+\d{0,4}\Z|\d{1,8}[a-z]{0,3}\Z")
_SORT = re.compile("[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_OTHER = re.compile("[^A-Za-z0-9]+")
_JOINT = re.compile(r"[-_./:=+@,&\\ ]+")
_DIGIT = re.compile("[0-9]")
_LETTERS = re.compile("[A-Z]?[a-z]+|[A-Z]+")
_HEX = re.compile(r"[0-9a-fA-F]+\Z")
_MARK = re.compile(
    r"[!#$%^&*?~+](?:(?<=[^\W_].)(?=\w)|(?<=\d[^?])[!#$%^&*~+]*\Z|(?<=[a-z][^!?])\d*\Z)"
)
_CAPITALS = re.compile("[A-Z]")
_SMALL = re.compile("[a-z]")
_LETTER = re.compile(r"[^\W\d_]")
_BETWEEN = re.compile(r"[^\W\d_]\d+[^\W\d_]")
_WORDS = re.compile(r"[^\W\d_]+")
_JOINED = re.compile(r"\w[-_.]\w")
_ADDRESS = re.compile(r"[\w.+-]*@[\w.-]+\Z|(?:[a-z0-9-]+\.)+[a-z]{2,8}(?::\d+)?\Z|\d+(?:\.\d+){2,}")
_CODE_MARK = re.compile(r"[(){}'’\[\]<>|\\\"`=;…]|::|//|\.\.|&&|->")
# `8-char`, `128-bit`, `2nd`, `C++17`, `AES-256-GCM`, `ACME-48213`, `Python-3.11`, `gpt-4o`
_TERM = re.compile(
    r"\d+[-.]?[a-z]{1,12}s?\Z|[A-Z]\+\+\d*\Z|[A-Z0-9]+(?:[-_./#][A-Z0-9]+)*\Z"
    r"|(?:[A-Za-z]+[-_])*[A-Za-z]*[-_]?v?\d+(?:\.\d+)+[\w.-]*\Z"
    r"|(?i:oauth|sha|aes|utf|base|pbkdf|argon|ipv|http|python|py|node|claude|gpt|gemini|llama|mistral"
    r"|qwen|iphone|ubuntu|debian|windows|win|linux|postgres|mysql|redis|java|php|ruby|web|rfc|iso"
    r"|cve|arm|amd|x|ed|rs|hs|es|curve|secp|step|phase|part|section|line|page|chapter|figure|table)"
    r"[-_]?(?:[a-z]+[-_])*v?\d[\w.-]*\Z",
)
_PREFIX = words(
    "non pre post anti sub mid semi multi self cross pro inter trans pseudo over under like"
    " super meta mini all"
)
_PLAIN_WORD = re.compile(r"[^\W\d_]+(?:[-_'][^\W\d_]+)*\Z")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\Z")


# `SecretStr(`, `db_password`, `urllib3.util.ssl_wrap_socket`, `ipaddress.IPv6Address`
_CALL = re.compile(r"[A-Za-z_][\w.]*\(b?\Z")
_STATEMENT = re.compile(
    r"[)\]}]+\.[A-Za-z]\w*\(?\Z|(?:raise|return|throw|assert|await|yield|elif)(?: [A-Za-z]\w*)?\Z"
)
_NAMED_VARIABLE = re.compile(
    r"[a-z]+(?:_[a-z0-9]+)*_(?:password|passwd|secret|token|key)\Z"
    r"|[a-z]+(?:[A-Z][a-z]+)*(?:Password|Passwd|Passphrase|Secret|Token|Key)\Z"
)
_OPTION = re.compile(r"--?[a-z][a-z0-9]*(?:-[a-z0-9]+)*\Z")
_COMMAND = re.compile(r"[a-z][\w./-]*[ ](?:[^\n]*[ ])?--?[a-zA-Z][\w-]*(?:[ =]|\Z)")
_LINE_OF_FILE = re.compile(
    r"[\w./-]{1,200}\.[a-z]{1,5}:\d+\Z|[a-z][\w.-]*/\Z|(?:commit|tree|blob)/[0-9a-f]{7,64}\Z"
)
_MODULE = re.compile(r"~?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z")
_HUMP = re.compile(r"[a-z0-9]_[a-z]|[a-z][A-Z][a-z]|[A-Z]{2}[a-z]|\A~")
_JOINED_WORDS = re.compile(r"[a-z]+(?:_[a-z]+)+\Z|[A-Z][a-z]+\Z|[a-z]+(?:[A-Z][a-z]+)+\Z")
_METHOD = re.compile(
    r"(?i:utf-?(?:8|16|32)|latin-?1|iso-8859-\d{1,2}|socks[45][ah]?|0x[0-9a-f]{1,8}"
    r"|(?:hmac|rsa|ecdsa|hs|rs|es|ps|aes|sha|md)(?:-?sha)?-?\d{1,4}(?:-\w{2,6})?"
    r"|(?:[cdjlmnst]|qu)['’][a-zà-ÿ]+|latest"
    r"|(?:\w+-){0,2}(?:llama|gpt|claude|mistral|qwen|gemini)-\w[\w.-]*"
    r"|\#[0-9a-f]{3}(?:[0-9a-f]{3}(?:[0-9a-f]{2})?)?;?|(?:wlan|eth|wg|tun|tap|ppp|usb|bond)\d{1,3})\Z"
)
_SECRETS = words("password passwords secret secrets token key credentials")


_VARIABLE = re.compile(r"[A-Z]{2,}(?:_[A-Z]+)+\Z")
"""The name of a variable that holds a secret, such as `DB_PASSWORD`."""


@lru_cache(maxsize=1024)
def is_placeholder(value: str) -> bool:
    """Whether this only shows where a secret goes: `<your-key>`, `$TOKEN`, `xxxx`, `password`."""
    lowered = value.lower()
    if len(set(lowered)) <= 2 or lowered in _NO_PHRASE or lowered in _TALK:
        return True
    if not lowered.isalpha() and _PLACEHOLDER.match(lowered):
        return True
    if _TALK_STEM.match(lowered) and not has_digit(value):
        return True
    if value.endswith(("EXAMPLE", "EXAMPLEKEY")) or _VARIABLE.match(value):
        return True
    if not any(map(lowered.__contains__, _INSIDES)):
        return False
    inside = _INSIDE.search(lowered)
    if inside is None:
        return False
    # A random text may have any word in it, but then among other letters.
    return inside["word"] is None or not lowered[: inside.start()][-1:].isalpha()


@lru_cache(maxsize=1024)
def is_reference(value: str, quoted: bool) -> bool:
    """Whether this is a word of a language, an address or a path rather than a secret itself."""
    if value.isalpha():
        return False  # all of them have a mark or a digit
    if _URL.match(value) or _VERSION.match(value) or _DATE.match(value) or _REGEX.match(value):
        return True
    # `Schloss.Graben7` is none of both: no file or attribute of a program is called so.
    made_up = is_random(value) or (has_digit(value[-1]) and oddness(value) > 1)
    if not made_up and (_PATH.match(value) or (not quoted and _ATTRIBUTE.match(value))):
        return True
    if quoted:
        return False
    if value[0] in "([{" or _REQUIRED.match(value) or _CODE.match(value) or _TYPE.match(value):
        return True
    if is_random(value):
        return False
    return any(mark in value for mark in "(){}[]") or _QUESTION.match(value) is not None


@lru_cache(maxsize=1024)
def oddness(value: str) -> int:
    """How far this is from a word, a name or a term: 0 it may be one, 3 it can only be made up.

    `hunter2` is 1, `Regenrinne-48` and `cobalt_Yak_Sledge` are 2, `kyo-2214-Scan` is 3.
    """
    if value.isalpha() or not 5 <= len(value) <= 64:
        return 0
    if _CODE_MARK.search(value) or not _LETTER.search(value):
        return 0
    if value[0] in "-/@.~:" or ("/" in value and not _MARK.search(value)):
        return 0
    if is_placeholder(value) or _VERSION.match(value) or _DATE.match(value) or _URL.match(value):
        return 0
    if _ADDRESS.match(value) or _TERM.match(value) or is_hash(value):
        return 0
    digit = has_digit(value)
    both = _CAPITALS.search(value) is not None and _SMALL.search(value) is not None
    if _MARK.search(value) and (digit or both):
        return 3
    if is_named(value):
        return int(digit)
    parts = [word for word in _WORDS.findall(value) if len(word) > 1]
    uneven = _is_uneven(parts) and _JOINED.search(value) is not None
    if not digit:
        uneven = uneven and "." not in value
        return 2 if uneven and parts[0].lower() not in _PREFIX and len(parts[0]) > 2 else 0
    if is_random(value) or (uneven and len(parts) > 1):
        return 3
    both = both and _CAPITALS.search(value, 1) is not None
    return 2 if both or _BETWEEN.search(value) or (_JOINED.search(value) and parts) else 1


def _is_uneven(parts: list[str]) -> bool:
    """Whether some of these words begin with a capital and some do not."""
    begins = {word[0].isupper() for word in parts}
    return len(begins) > 1 and all(word[1:].islower() for word in parts)


def is_named(value: str) -> bool:
    """Whether a word in it says what stands there: `Test-Key-2024`, `mySecretName`."""
    return any(word.lower() in _STOP for word in _LETTERS.findall(value))


def is_field(value: str, *, quoted: bool = False) -> bool:
    """Whether this names a part of a program rather than being a value of its own."""
    fields = _SECRETS if quoted or "-" in value else _FIELDS
    return any(word.lower() in fields for word in _LETTERS.findall(value))


def is_plain(value: str) -> bool:
    """Whether this may be a password that is a mere word, and nothing that is said of one."""
    value = value.rstrip("!")
    lowered = value.lower()
    if len(value) < 4 or not _PLAIN_WORD.match(value) or is_placeholder(value):
        return False
    return lowered not in _FUNCTION and not _PARTICIPLE.match(lowered)


def is_phrase(value: str, *, bare: bool = False) -> bool:
    """Whether this is a password of several words, and no sentence or label.

    Where no quotes hold it together, it has none of the small words that sentences have.
    """
    parts = [word.strip(".,!?:'").lower() for word in value.split()]
    if not 2 <= len(parts) <= 10 or len(value) > 80 or value[-1] in ".:?…":
        return False
    if _CODE_MARK.search(value) or any(word in _NO_PHRASE for word in parts):
        return False
    if is_command(value):
        return False
    small = sum(word in _FUNCTION for word in parts)
    if small * 2 >= len(parts) or (bare and small) or any(map(_TALK_STEM.match, parts)):
        return False
    titled = value[0].isupper() and value[1:].islower() and parts[0] != "i"
    return has_digit(value) or not titled


def is_code(value: str) -> bool:
    """Whether this is a call, a statement, a variable named for its secret, a place in files or a
    part of a module."""
    if _CALL.match(value) or _STATEMENT.match(value):
        return True
    if _NAMED_VARIABLE.match(value) or _LINE_OF_FILE.match(value) or _OPTION.match(value):
        return True
    module = _MODULE.match(value) is not None and _HUMP.search(value) is not None
    return module and not is_random(value)


def is_command(value: str) -> bool:
    """Whether this is a command with an option."""
    return _COMMAND.match(value) is not None


def is_term(value: str) -> bool:
    """Whether this is an encoding, a method, a model, a short hex number or an elided word."""
    return is_public(value) or _METHOD.match(value) is not None


_PUBLIC = (
    *("pk_test_", "pk_live_", "ENC[AES256_GCM"),
    # How the data of public keys begin: of SSH, and in DER
    *("AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNhLXNoYTIt", "AAAAGnNrLXNzaC1", "MCowBQYDK2V"),
    *("MIIBIjANBgkqhkiG9w0BAQEF", "MIICIjANBgkqhkiG9w0BAQEF", "MFkwEwYHKoZIzj0CAQYI"),
)


def is_public(value: str) -> bool:
    """Whether this is meant to be read by anyone, or encrypted."""
    return value.startswith(_PUBLIC)


def is_variable(value: str) -> bool:
    """Whether this is words joined as in the name of a variable, or one with a capital."""
    return _JOINED_WORDS.match(value) is not None and not is_random(value)


def has_digit(value: str) -> bool:
    """Whether there is a digit in it."""
    return _DIGIT.search(value) is not None


def is_number(value: str) -> bool:
    """Whether this is a number and nothing else."""
    return _NUMBER.match(value) is not None


@lru_cache(maxsize=1024)
def is_hash(value: str) -> bool:
    """Whether this could as well be a hash or an id: only hex digits, or a UUID."""
    return _HEX.match(value) is not None or _UUID.match(value) is not None


def is_wordy(value: str) -> bool:
    """Whether this is made of words, joined or in camel case, with a number at the end at most."""
    return all(_WORDY.match(part) for part in _JOINT.split(value) if part)


@lru_cache(maxsize=1024)
def is_random(value: str) -> bool:
    """Whether letters, capitals and digits change places as they do in no word."""
    plain = _OTHER.sub("", value)
    # A capital and what follows is one word of camel case; random text changes far more often.
    changes = len(_SORT.findall(plain)) - 1
    return len(plain) >= 8 and changes >= 0.22 * len(plain) and not is_wordy(value)
