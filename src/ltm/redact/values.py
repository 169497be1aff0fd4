"""What a value looks like: random, a placeholder, or a reference to one.

Standard library only; no I/O.
"""

from __future__ import annotations

import re
from functools import lru_cache

# Written where a secret would stand: from its first character on, or anywhere.
_PLACEHOLDER = re.compile(
    r"""<[^>]*>?|\{\{|\{[\w. ]*\}|\[[\w :.-]*\]|\([\w :.-]*\)|!\w+\Z
    |\$\d[\d.,]*\Z|\$\(|\$\{?\w+\}?[/|]?\Z|%\(\w+\)|%\w+%\Z|%[a-z](?![a-z0-9])|\*{3}|\#\{|@\w+@\Z""",
    re.VERBOSE,
)
_INSIDE = re.compile(
    r"""\.\.\.|…|xxxx|\*\*\*\*|\[redacted:|\[private\]|\$\{|\{\{|\#\{|\{[a-z_][\w.]*\}|<[\w -]+>
    |(?P<word>your|my-?own|example|sample|dummy|fake|placeholder|insert|replace|change[-_]?me|changeit
    |todo|redacted|masked|removed|hidden|(?:secret|key|token)[-_]?here)(?![a-z])""",
    re.VERBOSE,
)
_STOP_WORDS = (
    "string str text bytes char varchar number int integer float bool boolean any object"
    " unknown void never self this true false null none nil undefined nan yes no on off required"
    " optional hidden password passwd pass passphrase pwd secret secrets token tokens key keys"
    " apikey bearer basic auth authorization credential credentials user username login admin"
    " example test testing empty default value values name names type kind email input output"
    " label field format prompt env changeme invalid missing expired wrong incorrect encrypted"
    " plaintext base64 hashed masked sha256 sha512 sha-256 sha-512 argon2"
    " argon2id pbkdf2 bcrypt scrypt 1password"
)
_STOP = frozenset(_STOP_WORDS.split())
_TYPE = re.compile(
    r"(?:Optional|Union|List|Dict|Option|Vec|Array|Promise|Record|Map|Set|Box|Arc)[\[<]"
)
_URL = re.compile(r"[a-z][a-z0-9+.-]*://|data:|mailto:|sha\d{1,3}[-:]|urn:|arn:", re.IGNORECASE)
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
    r"(?:[~.]{0,2}/|[A-Za-z]:\\)?(?:[\w.@ -]+[/\\])*[\w.@-]+\.(?:[a-z][A-Za-z]{0,4}|[A-Z]{1,5})\Z"
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
_MARK = re.compile(r"(?<=[^\W_])[!#$%^&*?~+](?=\w)|(?<=\d)[!#$%^&*~+]+\Z|(?<=[a-z])[#$%^&*~+]\d*\Z")
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
_PREFIX = frozenset(
    (
        *("non", "pre", "post", "anti", "sub", "mid", "semi", "multi", "self", "cross", "pro"),
        *("inter", "trans", "pseudo", "over", "under", "like", "super", "meta", "mini", "all"),
    )
)
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\Z")


def is_placeholder(value: str) -> bool:
    """Whether this only shows where a secret goes: `<your-key>`, `$TOKEN`, `xxxx`, `password`."""
    lowered = value.lower()
    if len(set(lowered)) <= 2 or lowered in _STOP or _PLACEHOLDER.match(lowered):
        return True
    if value.endswith(("EXAMPLE", "EXAMPLEKEY")):
        return True
    inside = _INSIDE.search(lowered)
    if inside is None:
        return False
    # A random text may have any word in it, but then among other letters.
    return inside["word"] is None or not lowered[: inside.start()][-1:].isalpha()


def is_reference(value: str, quoted: bool) -> bool:
    """Whether this is a word of a language, an address or a path rather than a secret itself."""
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
    if not 5 <= len(value) <= 64 or _CODE_MARK.search(value) or not _LETTER.search(value):
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
    words = [word for word in _WORDS.findall(value) if len(word) > 1]
    uneven = _is_uneven(words) and _JOINED.search(value) is not None
    if not digit:
        uneven = uneven and "." not in value
        return 2 if uneven and words[0].lower() not in _PREFIX and len(words[0]) > 2 else 0
    if is_random(value) or (uneven and len(words) > 1):
        return 3
    both = both and _CAPITALS.search(value, 1) is not None
    return 2 if both or _BETWEEN.search(value) or (_JOINED.search(value) and words) else 1


def _is_uneven(words: list[str]) -> bool:
    """Whether some of these words begin with a capital and some do not."""
    begins = {word[0].isupper() for word in words}
    return len(begins) > 1 and all(word[1:].islower() for word in words)


def is_named(value: str) -> bool:
    """Whether a word in it says what stands there: `Test-Key-2024`, `mySecretName`."""
    return any(word.lower() in _STOP for word in _LETTERS.findall(value))


def has_digit(value: str) -> bool:
    """Whether there is a digit in it."""
    return _DIGIT.search(value) is not None


def is_number(value: str) -> bool:
    """Whether this is a number and nothing else."""
    return _NUMBER.match(value) is not None


def is_hash(value: str) -> bool:
    """Whether this could as well be a hash or an id: only hex digits, or a UUID."""
    return _HEX.match(value) is not None or _UUID.match(value) is not None


def is_wordy(value: str) -> bool:
    """Whether this is made of words, joined or in camel case, with a number at the end at most."""
    return all(_WORDY.match(part) for part in _JOINT.split(value) if part)


def is_random(value: str) -> bool:
    """Whether letters, capitals and digits change places as they do in no word."""
    plain = _OTHER.sub("", value)
    # A capital and what follows is one word of camel case; random text changes far more often.
    changes = len(_SORT.findall(plain)) - 1
    return len(plain) >= 8 and changes >= 0.22 * len(plain) and not is_wordy(value)
