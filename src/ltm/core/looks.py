"""What a value looks like: random, a placeholder, or something that is no value but stands for one.

Standard library only; no I/O.
"""

from __future__ import annotations

import re

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
    r"(?:[A-Za-z_.<>]*|[Uu]?[Ii]nt\d+|[Ff]loat\d+)\?\Z|[^?]*\?[.?]|[A-Za-z_.]*\?[\w.]*:|\w?\?\w?\Z"
)
# `${NAME:?NAME must be set}`
_REQUIRED = re.compile(r"\?[A-Za-z_]+\Z")
_PATH = re.compile(
    r"(?:[~.]{0,2}/|[A-Za-z]:\\)?(?:[\w.@ -]+[/\\])*[\w.@-]+\.[A-Za-z]{1,5}\Z|[~.]{0,2}/"
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
    if (_PATH.match(value) or (not quoted and _ATTRIBUTE.match(value))) and not is_random(value):
        return True
    if quoted:
        return False
    if value[0] in "([{" or _REQUIRED.match(value) or _CODE.match(value) or _TYPE.match(value):
        return True
    if is_random(value):
        return False
    return any(mark in value for mark in "(){}[]") or _QUESTION.match(value) is not None


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
