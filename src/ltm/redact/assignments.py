"""Secrets that only the name next to them gives away: `password = "…"`, `--token …`, `API_KEY: …`.

Finds names that promise a secret, what ties them to a value, and judges the value. The name may
also head a column of a table, or the `data` of a Kubernetes Secret. Every step is bounded, so that
time grows with the text and no faster. Imports `core.keynames` and `core.looks`.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise

from ltm.redact.key_names import Promise, is_label, names, promise, spoken_promise
from ltm.redact.values import (
    has_digit,
    is_hash,
    is_named,
    is_number,
    is_placeholder,
    is_random,
    is_reference,
    is_wordy,
    oddness,
)

_LONGEST_NAME = 64
_LONGEST_LOOK = 256
_NAME_BEFORE = re.compile(r"[A-Za-z0-9_.-]*")
_NAME_AFTER = re.compile(r"[A-Za-z0-9_-]*")
_WORD_BEFORE = re.compile(r"[ -]([A-Za-z]+)")
# What ends a name: a quote, escaped or not, marks of emphasis, the end of an index.
_CLOSE = r"(?:\\{0,15}[\"'`]|\*\*|__)?[\]*]?"
_SCHEME = (
    r"(?:(?:[Bb]earer|[Bb]asic|[Tt]oken|[Dd]igest|[Aa]pi-?[Kk]ey|[Aa]pi-?[Tt]oken|BEARER|BASIC|SSWS"
    r"|Splunk|GenieKey|Bot|OAuth|Key|PRIVATE-TOKEN)(?:[ ]|%20))?"
)
# What makes a value of the text in it: `String::from("…")`, `bytes.fromhex("…")`.
_MADE_OF = (
    r"(?:(?:new[ ])?(?:String(?:::from)?|\[\]byte|str|bytes(?:\.fromhex)?|Buffer\.from|Some"
    r"|unhexlify|atob"
    r"|Secret\w{0,8}(?:(?:::|\.)(?:new|of|from))?|(?:base64\.)?b64decode)\([ ]?(?=b?[\"']))?"
)
# `|` and the like of YAML, and the first line of what it holds.
_BLOCK = (
    r"(?:!!\w{1,12}[ ])?[|>][0-9+-]{0,2}[ \t]{0,8}(?:\#[^\n]{0,80})?"
    r"(?:\r?\n[ \t]{0,40}){1,3}(?<=[ \t])"
)
# A line that has nothing but one value, and is not the name of another.
_LINE_BELOW = r"\\?\r?\n[ \t]{1,40}(?=[^\s]{3,256}(?<![:,({\[])[ \t]{0,8}(?:\r?\n|\Z))"
_OPENING = "(?:[„“«‹「『][ \u00a0\u202f]?)?"
_OF_WHAT = (
    r"(?:,?[ ](?:for|FOR|of|on|in|to|at|from|we|i|I|you|he|she|they"
    r"|für|von|vom|zum|zur|de|du|da|do|del|des"
    r"|para|pour|от|для|voor|för|di|per)[ ][\w.@-]{1,30}(?:[ ][\w.@-]{1,30}){0,5}?"
    r"|(?:[ ][а-яё]{3,20}){1,3}?)?"
)
_IS = (
    r"(?:[ ](?:should|must|will|has|was|is|got|been|changed|set|reset|updated)){0,3},?[ ]"
    r"(?:is[ ]now|is|was|are|be|its|it['’]s|it[ ]is|that['’]s|set[ ]to|to|ist|lautet|est|c['’]est"
    r"|es|é|è|är|er)(?:[ ]?:\s{0,12}|[ ])"
)


@dataclass(frozen=True, slots=True)
class _Tie:
    """A way to tie a value to a name, and how far it is to be trusted."""

    pattern: re.Pattern[str]
    only_quoted: bool = False
    loose: bool = False
    """True if any word could stand there, so that the value must look the part."""


_ASSIGNED = _Tie(
    re.compile(
        _CLOSE + r"[ \t]{0,20}(?:\[[^\]\n]{0,24}\])?[ \t]{0,4}"
        r"(?:=3D(?=[\"'])|\#?[ ]?=>|={1,3}|[:?+|]{1,2}=|!==?|<-|:|：|%3[DdAa])"
        r"[ \t]{0,20}(?:"
        + _BLOCK
        + "|!!\\w{1,12}[ ]|"
        + _LINE_BELOW
        + ")?"
        + _SCHEME
        + _OPENING
        + _MADE_OF
    )
)
_CALLED = _Tie(
    re.compile(_CLOSE + r"[ \t]{0,4}[,(][ \t]{0,16}(?=\\{0,15}[\"'`])"),
    only_quoted=True,
    loose=True,
)
# `<password>…</password>`, `<property name="password">…`, `<Password><Value>…</Value>`
_ELEMENT = _Tie(
    re.compile(r"(?:[ ]{0,3}>|\\{0,15}[\"'][ ]?>|>\s{0,40}<\w{1,20}>)(?=[^<>\n]{4,512}</)")
)
_SAID = _Tie(
    re.compile(
        rf"[\"'`*]{{0,3}}(?:{_OF_WHAT}(?:{_IS}|[ ]?[:=]\s{{1,12}})|['’]s[ ]"
        rf"|[ ]{{0,40}}\|[ ]{{0,8}}|[ ]?(?:->|→|⇒|—|–)[ ]?"
        rf"|[ ]?(?:是|为|為|改为|改成了?|は|는|은)[ :：]?"
        rf"|[ \t]{{1,8}}){_SCHEME}{_OPENING}"
    ),
    loose=True,
)
# The next cell or line; nearly anything may stand there.
_NEXT = _Tie(
    re.compile(
        r"[\"'`*]{0,3}\)?;?(?:,|(?:[ \t]{0,4}\r?\n[ \t]{0,8}){1,2})(?:(?:[<>]|=>|->|→)[ ])?"
    ),
    loose=True,
)
_QUOTED_NEXT = _Tie(re.compile(r"[ \t]{1,8}(?=[\"'])"), only_quoted=True)
_TIES = (
    # `password: str = "…"`, `var password string = "…"`
    _Tie(
        re.compile(
            r"(?:\??[ ]?:[ ]?|[ ])(?:[&*]|'static |mut |const ){0,3}[A-Za-z_][\w.<>\[\]|?*]{0,40}"
            r"[ ]?=[ ]?(?=[bruf@$]{0,2}[\"'`])"
        ),
        only_quoted=True,
    ),
    _ASSIGNED,
    # `TOKEN || "…"`, `$("#password").fill("…")`
    _Tie(
        re.compile(
            r"[\"'`\])]{0,3}(?:[ ]?(?:\|\||\?\?|or|OR)[ ]?"
            r"|\.(?:type|fill|send_?[kK]eys|setValue|set)\()(?=[\"'`])"
        ),
        only_quoted=True,
    ),
    # `enable secret 9 …`: the number says in which form
    _Tie(re.compile(r"[ ][05-9][ ](?=[^\s]{6})")),
    _CALLED,
    # `<key>Password</key><string>…</string>`
    _Tie(re.compile(r"</key>\s{0,40}<string>")),
    # `name: DB_PASSWORD, value: …`, `variable "db_password" { default = … }`
    _Tie(
        re.compile(
            r"\\{0,15}[\"']?[\s,{]{1,40}"
            r"(?:(?:type|description|sensitive)[ ]{0,20}=[^\n]{0,80}\n[ \t]{0,40}){0,3}"
            r"(?:--)?\\{0,15}[\"']?(?:[Vv]alue|default(?:Value)?|body|secret-string)\\{0,15}[\"']?"
            r"[ \t]{0,4}[:= ][ \t]{0,4}"
        )
    ),
    _ELEMENT,
    # `ALTER USER me PASSWORD '…'`, `requirepass "…"`
    _QUOTED_NEXT,
    _SAID,
    _NEXT,
)
_CELL_ENDS = ("", "\n", "\r", ",", "`")
_OF_WHICH = re.compile(
    r"(?:[\"'`*]{0,2} (?:as|is|was|als|comme|como|come) |[\"'`*]{0,2},? \()"
    r"(?:(?:the|my|our|your|its|a|an|das|le|la|el|il|new|old) ){0,2}(?:[\w-]{1,20} ){0,3}?\Z"
)
_BEFORE_NAME = (" as ", " is ", " was ", " (", " als ", " com")
_FOR_WHICH = re.compile(
    r"\b[Ii]t(?:['’]s| is) ([^\s\"'`,;:]{6,64}) for "
    r"(?:(?:the|my|our|your) )?(?:[\w-]{1,20} ){0,2}\Z"
)
# A line of a properties file: nothing but a name with dots and its value.
_PROPERTY = re.compile(r"(?!(?:self|this|cls)\.)[a-z][a-z0-9-]*(?:\.[a-zA-Z0-9-]+)+\Z")
_COINED = re.compile(r"[A-Za-z]{3,}(?:-[A-Z][a-z]{2,}){1,4}\Z|[a-z]{3,}(?:-[a-z]{3,}){2,5}\Z")
_ENDS_IN_HASH = re.compile(r"[A-Za-z]{3,}[-_.:/][0-9a-f]{32,}\Z")
_TITLES = re.compile(r"[A-Z][a-z]{2,}(?:[-+][A-Z][a-z]{2,}){1,4}\Z")
_OTHER_NAME = re.compile(r"[A-Za-z][\w.-]{0,40}=")
_APART = ("", " ", "\t", "\n", "\r")
_PHRASE = re.compile(r"[a-z]{2,12}(?:[ -][a-z0-9]{1,12}){3,7}[ \t]{0,4}(?=\r?\n|[.\"'*}]|\Z)")
_PHRASE_NOT = re.compile(
    r"\b(?:the|your|a|an|is|are|for|in|to|see|enter|of|and|not|from|this|be|with|or|it|if|used|must"
    r"|on|by|as|no|when|that|which)\b"
)
# Quoted-printable: a line that goes on in the next one.
_SOFT_BREAK = re.compile(r"(?<==)[ ]?\r?\n[ ]{0,8}[^\s\"']{1,80}")
_ANOTHER = re.compile(
    r"[\"'`*]{0,2}[,;.]?[ ](?:(?:and|but)[ ])?(?:the[ ]|my[ ])?(?:new|old|other|current)[ ]one"
    r"(?:['’]s|[ ]is|[ ]was)(?:[ ]now)?:?[ ][\"'`*]{0,2}([^\s\"'`,;()*]{5,63}[^\s\"'`,;()*.:?])"
)
_LINK = frozenset(
    (
        *(
            "is",
            "was",
            "are",
            "be",
            "its",
            "it's",
            "it’s",
            "that's",
            "'s",
            "’s",
            "now",
            "still",
            "to",
            "ist",
        ),
        *("lautet", "heißt", "war", "est", "c'est", "c’est", "était", "es", "era", "son", "é", "è"),
        *("är", "er", "on", "je", "jest", "este", "είναι", "هي", "היא", "là", "adalah", "คือ", "şu"),
        *(
            "это",
            "yra",
            "ir",
            "nu",
            "jetzt",
            "=",
            ":",
            "：",
            "—",
            "–",
            "-",
            "->",
            "→",
            "=>",
            "|",
            "/",
        ),
    )
)
"""Words and marks that stand right before what something is."""
_USE = frozenset(
    (
        *(
            "with",
            "use",
            "using",
            "type",
            "enter",
            "try",
            "then",
            "from",
            "as",
            "and",
            "mit",
            "auf",
        ),
        *(
            "und",
            "dann",
            "avec",
            "en",
            "et",
            "con",
            "com",
            "y",
            "e",
            "med",
            "och",
            "og",
            "met",
            "z",
        ),
        *("с", "и", "pass", "password", "pw", "pwd", "key", "code", "schlüssel", "clave", "clé"),
    )
)
_FAR, _NEAR, _SURE = range(3)
"""How near a word is to what the sentence says of the name."""
_TOLD = ("password", "passphrase", "secret", "token", "key", "login", "credential")
# What no sentence of mere words has: saves reading it word by word.
_MADE_UP = re.compile(r"[^\W_][-_.]?\d|[!#$%^&*~+][^\W_]|[a-z]{2}[-_][A-Z][a-z]")
_LOGINS = ("login", "credential")
_SENTENCE = ("", " ", ":", "'", "’", ")", '"', ",", "`", "*")
_PAIR = re.compile(r"[\w.@+-]{2,40}[/:](?!/)(\S{5,64})\Z")
_CODE = re.compile(r"[={}<>\\|\[\]]|::|//")
_CALL = re.compile(r"\w\(")
_OR_THIS = re.compile(
    r"[\"'`*]{0,2},?[ ](?:to|or|and|now|then|oder|und|auf|ou|et|o|y|e|или|и)[ ][\"'`*]{0,2}"
    r"([^\s\"'`,;()*]{5,63}[^\s\"'`,;()*.:?!])"
)
_STRONG = re.compile(r"[!#$%^&*?~]")
_AROUND = "\"'`*„“”«»‹›「」『』()"
_QUOTED = re.compile(r"[bBrRuUfFNLE@$]{0,2}(\\{0,15}(?:\"\"\"|'''|[\"'`]))([^\n]{1,2048}?)\1")
# A quote that nothing closes: what follows it is a value, but no `"token=" + token`.
_UNCLOSED = re.compile(r"[bBrRuUfFNLE@$]{0,2}\\{0,15}[\"'`](?=[\w!@#$^*?~-])")
# Closing quotes, and Chinese, Japanese and Korean, which have no space after a value.
_FOREIGN = r"“”»\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7af\uff00-\uffef"
_LATER = re.compile(rf"[^\s\"`,{_FOREIGN}]+")
_UNQUOTED = rf"[^\s\"'`<>&|,;\\{_FOREIGN}]{{0,2048}}"
_PLAIN = re.compile(_UNQUOTED + r"(?:\\(?![nrtu\"'\\])" + _UNQUOTED + "){0,4}")
_CLOSING = re.compile(r"\)(?=[.,;)\]}\s]|\Z)")
_TRAIL = ".,:;)]}*"
_MARKED = re.compile(r"\w[!?@#$%^&*+=~]")
_MIXED = re.compile(r"[A-Za-z][\d@#$%^&*!]+[A-Za-z]")
_HEADING = re.compile(r"^[\w .|,;\t\"'`*-]{5,400}+(?=\r?$)", re.MULTILINE)
_LINE = re.compile(r"[^\r\n]+")
_RULE = re.compile(r"[-+:=| \t]+\Z")
_GAP = "  "
_ALIGNED = re.compile(
    r"[ ]{0,40}[A-Z][\w./-]{1,29}(?:[ ]{2,60}[A-Z][\w./-]{1,29}){1,12}[ ]{0,40}\Z"
)
_CELL = re.compile(r"\S+(?:[ ]\S+)*")
_FRAME = " \t\"'`*"
_LONGEST_HEADING = 30
_SHORTEST = 4
_LONGEST_SENTENCE = 120
_LONGEST_TITLE = 60
_MOST_WORDS = 10
_LETTER = re.compile("[A-Za-z]")
_SMALL = re.compile("[a-z]{2}")
_CAPITAL = re.compile("[A-Z]")
_NUMBER_INSIDE = re.compile(r"\d\d")
_PASSWORD = Promise("password", weak=False)
_MANIFEST = re.compile(r"[\"']?\bkind[\"']?:[ \t]{0,4}[\"']?Secret[\"']?(?=[\s,}]|\Z)")
_DOCUMENT = re.compile(r"^---", re.MULTILINE)
_DATA = re.compile(r"^([ \t]*)(?:data|stringData):[ \t]*\r?\n", re.MULTILINE)
_ENTRY = re.compile(r"([ \t]*)([\"']?[\w.-]{1,128}[\"']?:[ \t]{1,8})?([^\r\n]*)\r?\n?")
_JSON_DATA = re.compile(r"\"(?:data|stringData)\"\s{0,8}:\s{0,8}\{([^{}]*)\}")
_JSON_ENTRY = re.compile(r"\"[\w.-]{1,128}\"\s{0,8}:\s{0,8}\"([^\"\n]*)\"")


def assigned(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of every secret that stands by its name."""
    lowered = _lowered(text)
    done = odd = 0
    for found in names(lowered):
        if found.start() < done:
            continue
        held: Promise | None
        value: tuple[int, int] | None = None
        if said := spoken_promise(lowered, found):
            start, (done, held) = found.start(), said
            spoken = held.kind != "login"
            if spoken:
                value = _value(text, start, done, held)
        else:
            spoken = False
            start, done = _name_around(text, found.start(), found.end())
            before = _WORD_BEFORE.match(text[max(0, start - 24) : start][::-1])
            held = promise(text[start:done], before[1][::-1] if before else "")
            value = _value(text, start, done, held) if held else None
        if held and not value and held.kind in _TOLD:
            if odd < done:
                next_odd = _MADE_UP.search(text, done)
                odd = next_odd.start() if next_odd else len(text) + _LONGEST_SENTENCE
            near = odd < done + _LONGEST_SENTENCE and text[done : done + 1] in _SENTENCE
            if spoken or near:
                value = _later(text, done, held, spoken=spoken)
                held = _PASSWORD if held.kind in _LOGINS else held
        while held and value:
            yield (*value, held.kind)
            done = value[1]
            if held.kind != "password":
                break
            value = _another(text, done) or _or_this(text, done)


def _or_this(text: str, at: int) -> tuple[int, int] | None:
    """Where the next value stands in `from … to …` and `… or …`."""
    found = _OR_THIS.match(text, at)
    return found.span(1) if found and oddness(found[1]) > 1 else None


def _another(text: str, at: int) -> tuple[int, int] | None:
    """Where the next value stands in `password was …, the new one is …`."""
    found = _ANOTHER.match(text, at)
    if found is None or not _is_secret(found[1], _PASSWORD, loose=True, quoted=False):
        return None
    return found.span(1)


def _later(text: str, end: int, held: Promise, *, spoken: bool = False) -> tuple[int, int] | None:
    """Where the value stands in a sentence that says more about the name before it."""
    until = text.find("\n", end, end + _LONGEST_SENTENCE)
    until = until if until >= 0 else end + _LONGEST_SENTENCE
    link, colon = _NEAR, False
    for word in islice(_LATER.finditer(text, end, until), _MOST_WORDS):
        if word[0].isalpha():
            known = word[0].lower()
            link = _SURE if known in _LINK else _NEAR if known in _USE else _FAR
            colon = False
            continue
        value = _trimmed(word[0].strip(_AROUND)).strip(_AROUND)
        pair = _PAIR.match(value) if held.kind in _LOGINS else None
        value = pair[1] if pair else value
        if _CALL.search(word[0]):
            return None
        quoted = text[word.start() - 1] in "\"'`"
        trust = _SURE if pair or (quoted and link) else link
        told = _is_told(value, held, trust)
        if told or (spoken and _is_said(value, held, linked=link == _SURE, colon=colon)):
            begin = text.index(value, word.start())
            return begin, begin + len(value)
        if word[0][-1] in ".!?;。" or (_CODE.search(word[0]) and word[0] not in _LINK):
            return None
        colon = word[0][-1] in ":：="
        known = word[0].lower()
        if known == "=" and held.kind not in ("password", "passphrase"):
            return None
        link = _SURE if colon or known in _LINK else _NEAR if known in _USE else _FAR
    return None


def _is_told(value: str, held: Promise, link: int) -> bool:
    """Whether this is what a sentence about a password or a login is about."""
    odd = oddness(value)
    if odd < 2 or is_label(value):
        return False
    if held.kind in _LOGINS:
        return link == _SURE or (link == _NEAR and has_digit(value))
    if held.kind in ("password", "passphrase"):
        if link == _FAR:
            return odd == 3 and not value.isalnum() and not held.weak
        return odd + link - held.weak >= 3
    if held.kind not in ("key", "token", "secret") or held.weak:
        return False
    return link == _SURE and has_digit(value) and len(value) >= 8


def _is_said(value: str, held: Promise, *, linked: bool, colon: bool) -> bool:
    if held.kind in _LOGINS:
        return False
    if held.kind != "password":
        return linked and _is_secret(value, held, loose=True, quoted=False)
    if not has_digit(value) or not _LETTER.search(value):
        return False
    strong = _STRONG.search(value) is not None or (is_random(value) and linked)
    known = strong or colon or (linked and not held.weak)
    return known and _is_secret(value, _PASSWORD, loose=True, quoted=False)


def _lowered(text: str) -> str:
    """In small letters, every character at its place."""
    lowered = text.lower()
    # A few capitals become two characters; then only plain letters are changed.
    return lowered if len(lowered) == len(text) else re.sub("[A-Z]+", lambda m: m[0].lower(), text)


def _name_around(text: str, start: int, end: int) -> tuple[int, int]:
    back = _NAME_BEFORE.match(text[max(0, start - _LONGEST_NAME) : start][::-1])
    ahead = _NAME_AFTER.match(text, end)
    return start - (back.end() if back else 0), ahead.end() if ahead else end


def _value(text: str, start: int, end: int, held: Promise) -> tuple[int, int] | None:
    """Where the value of a name stands, if it has one that is a secret."""
    if text[max(0, start - 2) : start] == "::" or text.endswith("----", start, end):
        return None  # `AWS::IAM::AccessKey` is a type, and a line of dashes ends no name
    flag = text.startswith("-", start) and not text[max(0, start - 1) : start].isalnum()
    for tie in _TIES:
        tied = tie.pattern.match(text, end)
        if tied is None or (tie is _CALLED and not _is_argument(text, start, tied[0])):
            continue
        if tied[0] == ":" and text[max(0, start - 1) : start] == ":":
            continue  # `arn:aws:…:secret:name`
        loose = tie.loose and not flag
        if held.kind == "passphrase" and ":" in tied[0]:
            phrase = _PHRASE.match(text, tied.end())
            if phrase is not None and has_digit(phrase[0]) and not _PHRASE_NOT.search(phrase[0]):
                return phrase.start(), phrase.start() + len(phrase[0].rstrip())
        quoted = _QUOTED.match(text, tied.end())
        if quoted is not None:
            if tie is _QUOTED_NEXT and not (_COINED.match(quoted[2]) or oddness(quoted[2]) > 1):
                continue
            if _is_secret(quoted[2], held, loose=loose, quoted=True):
                return quoted.span(2)
            continue
        opened = _UNCLOSED.match(text, tied.end())
        plain = _PLAIN.match(text, opened.end() if opened else tied.end())
        if plain is not None and not tie.only_quoted:
            value = _trimmed(plain[0])
            if len(value) < _SHORTEST:
                continue
            until = plain.start() + len(value)
            # In a shell, an .env file or a flag every value is a text, quotes or not.
            env = text[start:end].isupper() and tied[0] == "="
            env = env or (flag and ("=" in tied[0] or not is_wordy(value)))
            # `--set admin.password=Tee-Kanne-Blau`; no name of a program has a dash
            env = env or ((flag or tied[0] == "=") and _COINED.match(value) is not None)
            env = env or (
                tied[0] == "="
                and not held.weak
                and _PROPERTY.match(text[start:end]) is not None
                and _NUMBER_INSIDE.search(value) is not None
                and text[max(0, start - 1) : start] in (*_APART, '"')
                and text[until : until + 1] in (*_APART, '"', "\\")
            )
            argument = "=" in tied[0] and text[until : until + 1] in (",", ")")
            if argument and not env and is_wordy(value) and oddness(value) < 3:
                continue  # `login(password=password1)`
            if tie.loose and _OTHER_NAME.match(value):
                continue
            if tie is _NEXT and not (
                (is_random(value) or _MARKED.search(value) or oddness(value) == 3)
                and text[until : until + 1] in _CELL_ENDS
            ):
                continue
            if _is_secret(value, held, loose=loose, quoted=tied[0].endswith(">"), env=env):
                more = _SOFT_BREAK.match(text, until) if tied[0].endswith("=3D") else None
                return plain.start(), more.end() if more else until
    return _value_before(text, start, held)


def _value_before(text: str, start: int, held: Promise) -> tuple[int, int] | None:
    """Where the value stands in `… is the password`."""
    since = max(0, start - _LONGEST_LOOK)
    before = text[since:start]
    if held.kind == "password" and " for " in before[-60:]:
        said = _FOR_WHICH.search(before, max(0, len(before) - 140))
        if said and has_digit(said[1]) and _is_secret(said[1], held, loose=True, quoted=False):
            return since + said.start(1), since + said.end(1)
    title = max(0, len(before) - _LONGEST_TITLE)
    last = max([before.rfind(mark, title) for mark in _BEFORE_NAME])
    if last < 0:
        return None
    words = _OF_WHICH.search(before, max(0, last - 3))
    if words is None:
        return None
    value = before[: words.start()].rpartition(" ")[2].rpartition("\n")[2].strip("\"'`(),:")
    told = held.kind in ("password", "passphrase") and oddness(value) > 1
    if not (told or (is_random(value) and _is_secret(value, held, loose=True, quoted=True))):
        return None
    begin = since + before.rindex(value)
    return begin, begin + len(value)


def _is_argument(text: str, start: int, tied: str) -> bool:
    """Whether this is `set_password("…` or `"password", "…`, and not the end of another text."""
    if "(" in tied:
        return True
    quote = (
        text[start - 2 : start - 1] if text[start - 1 : start] in ("#", ".") else text[start - 1]
    )
    return start > 0 and quote == tied.lstrip("\\")[0]


def _trimmed(value: str) -> str:
    """A value without what closes the sentence or the call around it."""
    closing = _CLOSING.search(value)
    return (value[: closing.start()] if closing else value).rstrip(_TRAIL)


@lru_cache(maxsize=256)
def _is_secret(value: str, held: Promise, *, loose: bool, quoted: bool, env: bool = False) -> bool:
    """Whether the value of a name that promises a secret is one, and not the label of a field."""
    found = _may_be_secret(value, held, loose=loose, quoted=quoted, env=env)
    return found and not is_label(value)


def _may_be_secret(value: str, held: Promise, *, loose: bool, quoted: bool, env: bool) -> bool:
    """Whether the value of a name that promises a secret is one; its beginning tells."""
    value, text = value[:_LONGEST_LOOK], quoted or env
    if len(value) < _SHORTEST or is_placeholder(value) or is_reference(value, text):
        return False
    if held.kind == "password-hash":
        return len(value) >= 32 and is_hash(value)
    digit = has_digit(value)
    if held.kind in ("password", "passphrase"):
        return _is_password(value, held, digit=digit, loose=loose, text=text)
    if " " in value or len(value) < 8 or is_number(value):
        return False
    if held.weak:
        plain = not text and (is_hash(value) or _ENDS_IN_HASH.search(value) is not None)
        return len(value) >= 16 and is_random(value) and not plain
    if is_random(value) or (len(value) >= 16 and is_hash(value)):
        return not loose or len(value) >= 16
    if loose or (not text and value.isidentifier()):
        return False
    if digit and len(value) >= 12 and text and _is_mixed(value):
        return True
    return (digit and not is_wordy(value)) or (env and len(value) >= 12)


def _is_mixed(value: str) -> bool:
    """Whether small letters, capitals and a longer number are in it, and nothing says "key"."""
    sorts = (_SMALL, _CAPITAL, _NUMBER_INSIDE)
    return all(sort.search(value) for sort in sorts) and not is_named(value)


def _is_password(value: str, held: Promise, *, digit: bool, loose: bool, text: bool) -> bool:
    if " " in value:
        if held.kind == "passphrase":
            return text and value.count(" ") >= 3
        # Labels and rules for passwords have spaces too, but no digits inside of words.
        return text and not loose and len(value) <= 64 and _MIXED.search(value) is not None
    if held.weak:
        single = value.isalnum() or not is_wordy(value)
        return digit and single and not loose and not is_number(value) and len(value) >= 6
    if loose:
        odd = digit or is_random(value) or oddness(value) > 1
        return len(value) >= 6 and not is_number(value) and odd
    if not digit and is_wordy(value):
        if oddness(value) > 1 or _TITLES.match(value):
            return True
        return text and "passw" not in value.lower()  # which would be a label
    return digit or text or (len(value) >= 6 and value.isascii())


def in_columns(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of every secret in a column or block whose heading promises one."""
    done = 0
    for heading in _HEADING.finditer(text):
        if heading.start() >= done and (mark := _mark(heading[0])):
            cells = _split(heading[0], mark)
            columns = _columns([cell for _, cell in cells])
            if columns:
                done = yield from _cells(text, heading.end(), mark, len(cells), columns)
    if "Secret" in text and _MANIFEST.search(text):
        yield from _manifests(text)


def _mark(line: str) -> str:
    """What stands between the cells of a line that can be the heading of a table, or nothing."""
    mark = next((mark for mark in "|\t;," if mark in line), "")
    if not mark and _ALIGNED.match(line):
        mark = _GAP
    if not mark or not any(names(line.lower())):
        return ""
    # Code and sentences have a space after the mark, or end with it.
    loose = mark in ",;" and (f"{mark} " in line or line.endswith(mark))
    return "" if loose else mark


def _split(line: str, mark: str) -> list[tuple[int, str]]:
    """The cells of a line, and where in it each begins."""
    if mark == _GAP:
        return [(cell.start(), cell[0]) for cell in _CELL.finditer(line)]
    cells: list[tuple[int, str]] = []
    at = 0
    for cell in line.split(mark):
        cells.append((at, cell))
        at += len(cell) + len(mark)
    return cells


def _columns(cells: list[str]) -> dict[int, Promise]:
    """The columns that promise secrets, if these are the names of columns."""
    names = [cell.strip(_FRAME) for cell in cells]
    if len([name for name in names if name]) < 2:
        return {}
    held = {
        n: _PASSWORD if is_label(name) else promise(name)
        for n, name in enumerate(names)
        if len(name) <= _LONGEST_HEADING
    }
    return {n: what for n, what in held.items() if what}


def _cells(
    text: str, at: int, mark: str, count: int, columns: dict[int, Promise]
) -> Generator[tuple[int, int, str], None, int]:
    """The secrets in the lines of a table; what it returns is where the table ends."""
    while (line := _LINE.match(text, text.find("\n", at) + 1)) and "\n" in text[at : line.start()]:
        if not _RULE.match(line[0]):
            cells = _split(line[0], mark)
            if len(cells) != count:
                break
            for n, (place, cell) in enumerate(cells):
                value = cell.strip(_FRAME)
                held = columns.get(n)
                named = held is not None and held.kind == "password"
                if held and _is_secret(value, held, loose=True, quoted=named):
                    begin = line.start() + place + cell.index(value)
                    yield begin, begin + len(value), held.kind
        at = line.end()
    return at


def _manifests(text: str) -> Iterator[tuple[int, int, str]]:
    """Every value of the Kubernetes Secrets in the documents of a text."""
    starts = [0, *(match.start() for match in _DOCUMENT.finditer(text)), len(text)]
    for since, until in pairwise(starts):
        if _MANIFEST.search(text, since, until):
            for data in _DATA.finditer(text, since, until):
                yield from _entries(text, data.end(), until, len(data[1]))
            for data in _JSON_DATA.finditer(text, since, until):
                for entry in _JSON_ENTRY.finditer(text, *data.span(1)):
                    yield from _taken(text, *entry.span(1))


def _entries(text: str, at: int, until: int, indent: int) -> Iterator[tuple[int, int, str]]:
    while at < until and (entry := _ENTRY.match(text, at, until)) and len(entry[1]) > indent:
        yield from _taken(text, *entry.span(3))
        at = entry.end()


def _taken(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    value = text[start:end].strip(_FRAME)
    if len(value) >= 4 and not is_placeholder(value):
        begin = text.index(value, start)
        yield begin, begin + len(value), "secret"
