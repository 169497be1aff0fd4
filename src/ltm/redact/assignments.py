"""Secrets that a mark ties to a name: `password = …`, `--token …`, a column headed "password".

How sure the place is decides how much the value itself must look made up: where nothing but a
password can stand, any word is one. Sentences are the matter of `prose`. Every step is bounded, so
that time grows with the text and no faster.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from ltm.redact.key_names import Promise, any_of, is_label, names, promise, spoken_promise
from ltm.redact.prose import KEPT_THERE, NamePlace
from ltm.redact.stems import TextWords
from ltm.redact.values import (
    has_digit,
    is_field,
    is_hash,
    is_named,
    is_number,
    is_phrase,
    is_placeholder,
    is_plain,
    is_public,
    is_random,
    is_reference,
    is_wordy,
    oddness,
)

_FAR, _NEAR, _SAID, _SURE = range(4)
"""How sure a place is. What a person chose must look made up (`oddness`) to make three of it."""
_LONGEST_NAME = 64
_LONGEST_LOOK = 256
_LONGEST_SENTENCE = 120
_LONGEST_HEADING = 30
_SHORTEST = 4
_NAME_BEFORE = re.compile(r"[A-Za-z0-9_.-]*")
_NAME_AFTER = re.compile(r"[A-Za-z0-9_-]*")
_WORD_BEFORE = re.compile(r"[ -]([A-Za-z]+)")

# -- marks that tie a value to a name ------------------------------------------------------------

# What ends a name: a quote, escaped or not, marks of emphasis, the end of an index.
_CLOSE = r"(?:\\{0,15}[\"'`]|\*\*|__)?(?:[\]*]|%5[Dd])?"
_SCHEME = (
    r"(?:(?:[Bb]earer|[Bb]asic|[Tt]oken|[Dd]igest|[Aa]pi-?[Kk]ey|[Aa]pi-?[Tt]oken|BEARER|BASIC|SSWS"
    r"|Splunk|GenieKey|Bot|OAuth|Key|PRIVATE-TOKEN)(?:[ ]|%20))?"
)
# What makes a value of the text in it: `String::from("…")`, `bytes.fromhex("…")`.
_MADE_OF = (
    r"(?:(?:new[ ])?(?:String(?:::from)?|\[\]byte|str|bytes(?:\.fromhex)?|Buffer\.from|Some"
    r"|unhexlify|atob|(?=\()"
    r"|Secret\w{0,8}(?:(?:::|\.)(?:new|of|from))?|(?:base64\.)?b64decode)\([ ]?(?=b?[\"']))?"
)
# A mark-up element that holds one value: `password: <code>…</code>`.
_ELEMENT_OF_ONE = r"(?:<[a-z]{1,8}>(?=[^\s<>]{4,128}</[a-z]))?"
# `|` and the like of YAML, and the first line of what it holds.
_BLOCK = (
    r"(?:!!\w{1,12}[ ])?[|>][0-9+-]{0,2}[ \t]{0,8}(?:\#[^\n]{0,80})?"
    r"(?:\r?\n[ \t]{0,40}){1,3}(?<=[ \t])"
)
# A line that has nothing but one value, and is not the name of another.
_LINE_BELOW = r"\\?\r?\n[ \t]{1,40}(?=[^\s]{3,256}(?<![:,({\[])[ \t]{0,8}(?:\r?\n|\Z))"
_OF = (
    "for|of|to|für|fuer|von|vom|zum|zur|am|im|der|des|de|del|du|da|do|dos|della|dello|pour|para|per"
    "|dla|od|к|от|для|на|voor|van|till|för|til|pro|ke|k"
)
_IS = (
    "is|was|ist|war|lautet|heißt|est|était|es|era|será|é|è|sarà|jest|brzmi|это|был|är|είναι|este"
    "|là|adalah"
)
_ALSO_IS = ("to", "er", "je")  # in other languages than English
_CHANGED_TO = ("to", "auf", "a", "à", "en", "in", "na", "para", "em", "на", "naar", "till", "til")
_CHARACTERS = r"\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
_OPENING = "(?:[„“«‹「『][ \u00a0\u202f]?)?"


@dataclass(frozen=True, slots=True)
class _Tie:
    """A way to tie a value to a name, and how sure it is."""

    pattern: str
    place: int = _SURE
    only_quoted: bool = False


_TIES = {
    # `password: str = "…"`, `var password string = "…"`
    "typed": _Tie(
        r"(?:\??[ ]?:[ ]?|[ ](?!encoding=))(?:[&*]|'static |mut |const ){0,3}"
        r"[A-Za-z_][\w.<>\[\]|?*]{0,40}"
        r"[ ]?=[ ]?(?=[bruf@$]{0,2}[\"'`])",
        only_quoted=True,
    ),
    "assigned": _Tie(
        _CLOSE + r"[ \t]{0,20}(?:\[[^\]\n]{0,24}\])?[ \t]{0,4}"
        r"(?:=3D(?=[\"'])|\#?[ ]?=>|={1,3}|[:?+|]{1,2}=|!==?|<-|:|：|%3[DdAa])"
        rf"[ \t]{{0,20}}(?:{_BLOCK}|!!\w{{1,12}}[ ]|{_LINE_BELOW})?{_SCHEME}{_OPENING}{_MADE_OF}"
        rf"{_ELEMENT_OF_ONE}(?![ \t]{{0,8}}\r?\n)"
    ),
    # `TOKEN || "…"`, `$("#password").fill("…")`
    "given": _Tie(
        r"[\"'`\])]{0,3}(?:[ ]?(?:\|\||\?\?|or|OR)[ ]?"
        r"|\.(?:type|fill|send_?[kK]eys|setValue|set)\()(?=[\"'`])",
        only_quoted=True,
    ),
    # `enable secret 9 …`: the number says in which form
    "form": _Tie(r"[ ](?:[05-9][ ]|51:b:)(?=[^\s]{6})"),
    "called": _Tie(_CLOSE + r"[ \t]{0,4}[,(][ \t]{0,16}(?=\\{0,15}[\"'`])", _NEAR, True),
    # `<key>Password</key><string>…</string>`, `<td>Password</td><td>…</td>`
    "listed": _Tie(r"</(?:key|td|th|dt)>\s{0,40}<(?:string|td|dd)>"),
    # `name: DB_PASSWORD, value: …`, `variable "db_password" { default = … }`
    "valued": _Tie(
        r"\\{0,15}[\"']?[\s,{]{1,40}"
        r"(?:(?:type|description|sensitive)[ ]{0,20}=[^\n]{0,80}\n[ \t]{0,40}){0,3}"
        r"(?:--)?\\{0,15}[\"']?(?:[Vv]alue|default(?:Value)?|body|secret-string)\\{0,15}[\"']?"
        r"[ \t]{0,4}[:= ][ \t]{0,4}"
    ),
    # `<password>…</password>`, `<property name="password">…`, `<Password><Value>…</Value>`
    "element": _Tie(
        r"(?:[ ]{0,3}>|\\{0,15}[\"'][ ]?>(?:\s{0,40}<[Vv]alue>)?|>\s{0,40}<\w{1,20}>"
        r"|[ ]encoding=\"\w{1,12}\">)"
        r"(?:<!\[CDATA\[)?\s{0,40}"
        r"(?=[^<>\s][^<>\n]{3,512}(?:</|\]\]>|\n[ \t]{0,40}</))"
    ),
    # `ALTER USER me PASSWORD '…'`, `requirepass "…"`
    "quoted": _Tie(r"[ \t]{1,8}(?=[\"'])", _NEAR, True),
    "pointed": _Tie(
        rf"[\"'`*]{{0,3}}(?:[ ]?(?:->|→|⇒|—|–)[ ]?|[ ]-[ ]|[ ]?\.{{3,60}}[ ]|[ ]?[:=]\s{{1"
        rf",12}}){_SCHEME}{_OPENING}",
        _SAID,
    ),
    "cell": _Tie(rf"[\"'`*]{{0,3}}[ ]{{0,40}}\|[ ]{{0,8}}{_SCHEME}", _SAID),
    "foreign": _Tie(
        rf"(?:(?<=[{_CHARACTERS}])[{_CHARACTERS} ]{{0,10}}[:：(（][ ]?"
        rf"|[ ]?(?:是|为|為|改为|改成了?|は|는|은|คือ)[ :：]?"
        rf"|[{_CHARACTERS}。、，]{{1,16}}(?=[「『“])){_OPENING}"
    ),
    # `the password for staging is …`
    "said": _Tie(
        rf"[\"'`*]{{0,2}}(?:[ ](?:{_OF})(?:[ ][^\W\d_]{{1,16}}){{1,4}}?)?[ ]"
        rf"(?:{_IS}|(?P<link>{'|'.join((*_ALSO_IS, *_CHANGED_TO))}))[ ][\"'`*]{{0,3}}{_OPENING}",
        _SAID,
    ),
    # `--password …`, `ENV DB_PASSWORD …`, `login me password …`
    "spaced": _Tie(r"[ \t]{1,8}(?=[^\s-])", _FAR),
    # The next cell or line; nearly anything may stand there.
    "next": _Tie(
        r"[\"'`*]{0,3}\)?;?(?:,|(?:[ \t]{0,4}\r?\n[ \t]{0,8}){1,2})(?:(?:[<>]|=>|->|→)[ ])?", _FAR
    ),
}
_PROMOTED = ("called", "quoted", "pointed", "spaced")
"""Ties that are sure after a flag, a command or a user."""
_TIE = re.compile("|".join(f"(?P<{name}>{tie.pattern})" for name, tie in _TIES.items()))
_QUOTED = re.compile(r"[bBrRuUfFNLE@$]{0,2}(\\{0,15}(?:\"\"\"|'''|``|[\"'`]))([^\n]{1,2048}?)\1")
# In YAML and SQL a quote inside of quotes is written twice.
_DOUBLED = re.compile(r"(')((?:[^'\n]|''){1,2048})'(?!')")
# A quote that nothing closes: what follows it is a value, but no `"token=" + token`.
_UNCLOSED = re.compile(r"[bBrRuUfFNLE@$]{0,2}\\{0,15}[\"'`](?=[\w!@#$^*?~-])")
# Closing quotes, and Chinese, Japanese and Korean, which have no space after a value.
_FOREIGN = rf"“”»{_CHARACTERS}\u3000-\u303f\uff00-\uffef"
_UNQUOTED = rf"[^\s\"'`<>&|,;\\{_FOREIGN}]{{0,2048}}"
_PLAIN = re.compile(_UNQUOTED + r"(?:\\(?![nrtu\"'\\])" + _UNQUOTED + "){0,4}")
_ELEMENT = re.compile(r"[^<>\n]{4,512}?(?=</|\]\]>|\n)")
_CLOSING = re.compile(r"\)(?=[.,;)\]}\s]|\Z)")
_TRAIL = ".,:;)]}*"
_CELL_ENDS = ("", "\n", "\r", ",", "`")
_IN_BLOCK = re.compile(r"[:=][ \t]{0,20}[|>][^\n]*\n")
_REST_OF_LINE = re.compile(r"\S(?:[^\n]{0,200}\S)?")
_OTHER_NAME = re.compile(r"[A-Za-z][\w.-]{0,40}=")
# Quoted-printable: a line that goes on in the next one.
_SOFT_BREAK = re.compile(r"(?<==)[ ]?\r?\n[ ]{0,8}[^\s\"']{1,80}")
# A line of a shell that goes on in the next one.
_HARD_BREAK = re.compile(r"\\\r?\n[ ]{0,8}[^\s\"'-][^\s\"']{0,80}")
# Several words without quotes, up to the end of the line or of the sentence.
_SEVERAL = re.compile(
    r"[^\W_]{2,16}(?:[ -][^\W_]{1,16}){1,7}(?=[ \t]{0,4}(?:\r?\n|[.,](?=\s|\Z)|[\"'*}]|\Z))"
)

# -- what stands around an assignment ------------------------------------------------------------

# After the value: the end of the line, a comment, or the next setting.
_ALONE = re.compile(
    r"[ \t]{0,40}(?:[,;|&)}\]*]{0,3}[ \t]{0,8}(?:\\?\r?\n|\\n|\Z)|\#|//|\*/|--|\(|&|<"
    r"|[,;|]?[ \t]{0,8}[\"']?(?:--?[a-zA-Z]|[A-Za-z][\w. -]{0,24}[\"']?[ ]?[=:]))|[\"'`]"
)
# Marks of a program: what stands after `=` there is often the name of something else.
_PROGRAM = re.compile(
    r"[({][ \t]{0,8}\r?\n|\)[ \t]{0,4}[:{;]|;[ \t]{0,8}\r?\n|[=!]==?[ ]|->|\w\([^)\n]{0,80}\)"
    r"|\b(?:self|this)\.\w|\b(?:def|fn|func|const|let|var)[ ]\w{1,40}[ ]?[(:=]"
    r"|\b(?:None|null|elif)\b"
    r"|\n[ \t]{0,40}(?:return|import|from|else)\b"
)
# A user stands right before: `login me password …`, `user: me` in the line above.
_USER_WORDS = (
    "user|username|user name|user_name|user-name|userid|user id|user_id|usr|uid|login|log in"
    "|sign in|logged in|login as|log in as|sign in as|account|email|e-mail|u|ssid|wifi|wi-fi"
    "|wlan|network|netz|benutzer|benutzername|nutzer|utilisateur|identifiant|usuario|usuário"
    "|utente|gebruiker|användare|bruger|bruker|käyttäjä|uživatel|felhasználó|utilizator"
    "|utilizador|użytkownik|kullanıcı|kullanıcı adı|логин|пользователь|користувач"
)
_USER = re.compile(
    rf"(?:\b{any_of(_USER_WORDS.split('|'))}|账号|用户名?|ユーザー名?|アカウント|사용자|아이디)(?!\w)"
    r"|\b(?:as|with|en|con|mit|avec|als|под|use|utilise)(?=[ ](?:admin|root|guest|sa|postgres)\b)"
)
_USER_NAME = re.compile(
    r"[\"'`*]{0,2}(?:[ \t]{0,4}(?:[:=：]|=>)|[ ](?:is|ist|est|es)(?=[ ])|(?=[ ]))[ \t]{0,4}"
    r"[\"'`*]{0,2}(?!(?:and|or|for|name|with|by|to|the|a|in|und|y|et|e|en|from|of|if|is|has|when"
    r"|can|must|de|del|di|da|du|la|le|el|/)\b)"
    r"[\w.@+\\-]{2,64}[\"'`*]{0,2}"
    r"(?:[ \t]{0,4}[,;|/&\n][\s\"'{-]{0,12}|[ ]{1,4})"
    r"(?:(?:and|with|und|mit|et|avec|y|con|e|com|en|met|the|le|la|el|its|dem)[ ]){0,3}\Z"
)
_FAR_FROM_USER = 100
_BETWEEN_COLONS = re.compile(r"\w::\S")
_LINE_END = re.compile(r"[ \t]{0,8}(?:\r?\n|\Z)")
_BRACKET = re.compile(r"[ ][^\s()]{4,64}\)")
# `ENV DB_PASSWORD …`, `WITH PASSWORD '…'`, `setPassword("…")`, `fill("#password", "…")`
_SETTERS = {
    "spaced": re.compile(
        r"(?:\b(?:ENV|ARG|setenv|SETENV)[ ][A-Z_]{1,40}|requirepass|masterauth)\Z"
    ),
    "quoted": re.compile(
        r"(?:\bPASSWORD|requirepass|masterauth|[:@][\w-]{1,20}|\w[-_][\w-]{1,20})\Z"
    ),
    "called": re.compile(
        r"(?:(?i:set|with)_?(?i:pass\w{0,8}|pw)|(?:fill|type|set|define)\([\"'][#.]?[\w-]{1,16})\Z"
    ),
}
_CHANGES = re.compile(
    r"\b(?:chang|set\b|rotat|updat|reset|switch|änder|setz|stell|cambi|modifi|actuali|mud|troqu"
    r"|troc|alter|atuali|mis\b|impost|aggiorn|zmieni|ustaw|смени|измени|поменя|постав|wijzig|verander"
    r"|ändra|byt|ændr|skift|změn|nastav)[^.!?\n]{0,40}\Z",
    re.IGNORECASE,
)
_USES = re.compile(
    r"\b(?:us(?:e|ing)|with|try|enter|type|nimm|nutze?|verwende|utilise|usa|use|prova|użyj|используй|введи"
    r"|gebruik|använd|brug|použij)(?: (?:the|that|this|das|dieses|le|la|el|il|o|a|het))?[ ]\Z",
    re.IGNORECASE,
)
_DOTTED = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+[?!]?[(\[]?")
_DOTTED_WORDS = re.compile(r"[^\W_]+(?:[._-][^\W_]+)+\Z")
# A sentence about passwords as such.
_ABOUT = re.compile(
    r"(?i:\b(?:forg[oe]t\w{0,4}|wrong|invalid|incorrect|bad|missing|no|without|empty|expired|failed"
    r"|enter|ask\w{0,3}|need|who|what|which|if|how|where|when|check|verif\w{0,5}|validat\w{0,5}"
    r"|hash\w{0,3}|require[sd]?|unexpected|each|every|any|this|rotate|strong|weak)[ ]"
    r"(?:[\w'-]{1,20}[ ]){0,2})\Z"
)

# -- sentences -----------------------------------------------------------------------------------


# -- looks ---------------------------------------------------------------------------------------

_ENDS_IN_HASH = re.compile(r"[A-Za-z]{3,}[-_.:/][0-9a-f]{32,}\Z")
_SMALL = re.compile("[a-z]{2}")
_CAPITAL = re.compile("[A-Z]")
_NUMBER_INSIDE = re.compile(r"\d\d")
_SWAPPED = re.compile(r"[A-Za-z]@[A-Za-z0-9!$]{4,}\Z")  # `P@ssw0rd`, which is not an address
_PASSWORD = Promise("password", weak=False, chosen=True)

# -- columns -------------------------------------------------------------------------------------

_HEADING = re.compile(r"[\w .|,;\t\"'`*-]{5,400}+(?=\r?$)", re.MULTILINE)
_LINE = re.compile(r"[^\r\n]+")
_RULE = re.compile(r"[-+:=| \t]+\Z")
_GAP = "  "
_ALIGNED = re.compile(
    r"[ ]{0,40}[A-Z][\w./-]{1,29}(?:[ ]{2,60}[A-Z][\w./-]{1,29}){1,12}[ ]{0,40}\Z"
)
# The same in small letters is a heading only above a line of dashes.
_ALIGNED_ABOVE_RULE = re.compile(
    r"[ ]{0,40}[\w./-]{2,30}(?:[ ]{2,60}[\w./-]{2,30}){1,12}[ ]{0,40}\r?\n"
    r"[ ]{0,40}-{3}[- ]{0,400}\r?\n"
)
_CELL = re.compile(r"\S+(?:[ ]\S+)*")
_SECTION = re.compile(r"^\[([\w. -]{4,60})\][ \t]*\r?\n", re.MULTILINE)
_SETTING = re.compile(r"[ \t]*(?:[#;][^\n]*|[\w.@\"' -]{1,80}?[ \t]*[=:][ \t]*([^\n]*)|[^\n]*)\n?")
_FRAME = " \t\"'`*"
_MANIFEST = re.compile(r"[\"']?\bkind[\"']?:[ \t]{0,4}[\"']?Secret[\"']?(?=[\s,}]|\Z)")
_DOCUMENT = re.compile(r"^---", re.MULTILINE)
_DATA = re.compile(r"^([ \t]*)(?:data|stringData):[ \t]*\r?\n", re.MULTILINE)
_ENTRY = re.compile(r"([ \t]*)([\"']?[\w.-]{1,128}[\"']?:[ \t]{1,8})?([^\r\n]*)\r?\n?")
_JSON_DATA = re.compile(r"\"(?:data|stringData)\"\s{0,8}:\s{0,8}\{([^{}]*)\}")
_JSON_ENTRY = re.compile(r"\"[\w.-]{1,128}\"\s{0,8}:\s{0,8}\"([^\"\n]*)\"")

_INSERT = re.compile(
    r"(?i:insert\s+into)\s+[\w.`\"]{1,60}\s?\(([^()]{1,400})\)\s?(?i:values)"
    r"\s{0,8}\((?P<row>[^()]{1,2000})\)"
)
_NEXT_ROW = re.compile(r"\s{0,8},\s{0,8}\((?P<row>[^()]{1,2000})\)")
_SQL_VALUE = re.compile(r"'((?:[^'\n]|''){1,512})'|[^,\s']{1,64}")

ValueSpan = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Name:
    """A name in a text, and what it promises."""

    text: str
    start: int
    end: int
    held: Promise
    foreign: bool
    """Whether it is a word of another language than English."""
    lowered: str
    """The text in small letters."""

    def follows_user(self) -> bool:
        """Whether the name of a user stands right before it."""
        since = max(0, self.start - _FAR_FROM_USER)
        ends = [user.end() for user in _USER.finditer(self.lowered, since, self.start)]
        return bool(ends) and _USER_NAME.match(self.text, ends[-1], self.start) is not None

    def is_flag(self) -> bool:
        """Whether this is an option of a command."""
        start = self.start
        return (
            self.text.startswith("-", start) and not self.text[max(0, start - 1) : start].isalnum()
        )

    def is_upper(self) -> bool:
        """Whether this is written as the names of an environment are."""
        return self.text[self.start : self.end].isupper()

    def is_set(self, way: str) -> bool:
        """Whether what is tied to it in this way can only be its value."""
        text, start, end = self.text, self.start, self.end
        if (
            text[max(0, start - 1) : start] == "("
            and not self.held.weak
            and _BRACKET.match(text, end)
        ):
            return True
        setter = _SETTERS.get(way)
        if setter and setter.search(text, max(0, start - 24), end):
            return True
        return self.follows_user()

    def is_linked(self, link: str | None) -> bool:
        """Whether a word between it and a value says that it is this or was changed to this."""
        if link is None or (self.foreign and link in _ALSO_IS):
            return True
        changes = _CHANGES.search(self.text, max(0, self.start - 60), self.start)
        return changes is not None and link in _CHANGED_TO

    def is_used(self) -> bool:
        """Whether the reader is told to use it."""
        return _USES.search(self.text, max(0, self.start - 24), self.start) is not None

    def is_about(self) -> bool:
        """Whether the sentence is one about passwords as such."""
        since = max(0, self.start - 60)
        return _ABOUT.search(self.text[since : self.start].rpartition("\n")[2]) is not None


def names_in(words: TextWords) -> list[NamePlace]:
    """Every name in a text that promises a secret."""
    text, lowered = words.text, words.lowered
    places: list[NamePlace] = []
    done = 0
    for found in names(lowered, words.names):
        if found.start() < done:
            continue
        held: Promise | None
        if foreign := spoken_promise(lowered, found):
            start, (done, held) = found.start(), foreign
        else:
            start, done = _name_around(text, found.start(), found.end())
            before = _WORD_BEFORE.match(text[max(0, start - 24) : start][::-1])
            held = promise(text[start:done], before[1][::-1] if before else "")
        if held is None:
            continue
        if text[max(0, start - 2) : start] == "::" or text.endswith("----", start, done):
            continue  # `AWS::IAM::AccessKey` is a type, and a line of dashes ends no name
        if _BETWEEN_COLONS.match(text[max(0, start - 2) : start] + text[done : done + 2]):
            continue  # `arn:aws:…:secret:name`
        if text.startswith("mem_", start):
            continue  # the id of a memory may hold any letters
        places.append(NamePlace(start, done, held, foreign is not None))
    return places


def assigned(text: str, places: Sequence[NamePlace]) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of every secret that a mark or a sentence ties to its name."""
    if not places:
        return
    lowered = _lowered(text)
    done = 0
    for start, end, held, foreign in places:
        if start < done:
            continue
        done = end
        name = _Name(text, start, end, held, foreign, lowered)
        value = _tied(name) if held.kind != "login" else None
        if value:
            yield (*value, held.kind)
            done = value[1]


def _tied(name: _Name) -> ValueSpan | None:
    """Where the value stands that a mark ties to a name."""
    text, start = name.text, name.start
    found = _TIE.match(text, name.end)
    if found is None:
        return None
    way, tied = found.lastgroup or "", found[0]
    place = _TIES[way].place
    if way == "called" and not _is_argument(text, start, tied):
        return None
    if way == "element" and text[max(0, start - 1) : start] == "/":
        return None  # `</password><host>…`
    quoted = _quoted(text, found.end())
    if quoted is None:
        return None if _TIES[way].only_quoted else _tied_bare(name, found, way)
    if not _is_value(quoted[2]):
        return None
    if way in _PROMOTED and (name.is_flag() or name.is_set(way)):
        place = _SURE
    if way == "quoted" and (name.foreign or " " in quoted[2]) and not name.is_about():
        place = _SURE
    held = _firm(name, way, tied, text_follows=True) if place == _SURE else name.held
    return quoted.span(2) if _is_secret(quoted[2], held, place, quoted=True) else None


def _tied_bare(name: _Name, found: re.Match[str], way: str) -> ValueSpan | None:
    """Where the value stands that has no quotes, or only the first of them."""
    text, start, tied, place = name.text, name.start, found[0], _TIES[way].place
    opened = _UNCLOSED.match(text, found.end())
    at = opened.end() if opened else found.end()
    plain = (_ELEMENT if way == "element" else _PLAIN).match(text, at)
    if way == "assigned" and name.held.chosen and not name.held.weak and _IN_BLOCK.search(tied):
        rest = _REST_OF_LINE.match(text, at)
        if rest and " " in rest[0] and rest[0][-1] not in ".:?…" and not is_placeholder(rest[0]):
            return rest.span()
    value = plain[0].strip() if plain and way == "element" else _trimmed(plain[0]) if plain else ""
    until = at + len(value)
    several = _SEVERAL.match(text, at) if text[until : until + 1] == " " else None
    if not (several or _is_value(value)):
        return None
    odd = oddness(value) > 0 or (has_digit(value) and _SWAPPED.match(value) is not None)
    made_up = odd and name.held.chosen and not name.held.weak
    linked = way == "said" and name.is_linked(found["link"])
    drawn = several and name.held.kind == "passphrase" and _is_row_of_words(several[0])
    if several and drawn and (linked or name.is_used()):
        return several.span()
    if way == "said":
        told = linked and made_up and _is_secret(value, name.held, place, quoted=False)
        return (at, until) if told else None
    flag = name.is_flag()
    if way in _PROMOTED and (flag or name.is_set(way)):
        place = _SURE
    held = _firm(name, way, tied, text_follows=False) if place == _SURE else name.held
    if several and held.chosen and place == _SURE and not (flag or held.weak):
        long = held.kind == "passphrase"
        if is_phrase(several[0], bare=not long) and (long or _is_own_line(name, tied)):
            return several.span()
    dotted = held.chosen and place == _SURE and _DOTTED_WORDS.match(value) is not None
    quoted, env = dotted or tied.endswith((">", "[")), flag or (tied == "=" and name.is_upper())
    if not _is_secret(value, held, _SURE, quoted=quoted, env=env) or KEPT_THERE.match(text, until):
        return None
    if way == "assigned" and not env:
        place = _place(name, tied, value, until)
        quoted = quoted and place == _SURE
    if way == "spaced" and value.isalpha() and not (env or is_plain(value)):
        return None
    if way == "spaced" and held.chosen and not (held.weak or value.isalpha() or is_number(value)):
        line = text[max(0, start - 3) : start].rpartition("\n")[2].strip(" >|")
        alone = not line and len(value) >= 6 and _LINE_END.match(text, until)
        told = made_up and value[0].isalnum() and (name.foreign or name.is_used())
        place = _SURE if alone else _SAID if told else place
    if _TIES[way].place < _SURE and _OTHER_NAME.match(value):
        return None
    if place == _FAR and text[until : until + 1] not in _CELL_ENDS:
        return None
    if not _is_secret(value, held, place, quoted=quoted, env=env):
        return None
    printed = tied.endswith("=3D") or value.startswith("3D")
    more = (_SOFT_BREAK if printed else _HARD_BREAK).match(text, until)
    return at, more.end() if more else until


def _is_row_of_words(value: str) -> bool:
    """Whether these are words drawn at random, and no sentence."""
    parts = value.split()
    drawn = all(part.islower() and (len(part) < 4 or is_plain(part)) for part in parts)
    return len(parts) >= 4 and drawn and is_phrase(value, bare=True)


def _is_own_line(name: _Name, tied: str) -> bool:
    """Whether several words after a name can be one value."""
    before = name.text[max(0, name.start - 1) : name.start]
    key = before in ("", "\n", " ") and "_" in name.text[name.start : name.end]
    first = "=" in tied and (tied != "=" or before in ("", "\n"))
    return key or first or name.follows_user()


def _firm(name: _Name, way: str, tied: str, *, text_follows: bool) -> Promise:
    """What a name promises where something is clearly given to it."""
    held = name.held
    chosen = held.chosen or way == "form" or (held.kind == "secret" and "=" in tied)
    sure = (
        way not in ("assigned", "typed")
        or tied == "="
        or ("=" in tied and (text_follows or name.is_upper()))
    )
    before = name.text[max(0, name.start - 1) : name.start]
    sure = sure or (text_follows and before in ("'", '"'))  # `"pass": "…"`
    return Promise(held.kind, held.weak and not (chosen and sure), chosen)


def _place(name: _Name, tied: str, value: str, until: int) -> int:
    """How sure it is that what stands after a mark is a value, and no name or sentence."""
    text, start = name.text, name.start
    tight = tied == "=" and text[until : until + 1].strip() == ""
    if not (tight or _ALONE.match(text, until)):
        return _SAID
    line = max(text.rfind("\n", 0, start) + 1, start - 160)
    if value.isidentifier() or _DOTTED.match(value):
        if is_field(value) or "(" in text[line:start]:
            return _NEAR if text[until : until + 1] in (",", ")") else _SAID
        quoted = text[max(0, start - 1) : start] in ("'", '"')
        key = quoted and (tied == ":" or text[name.end : name.end + 1] in ("'", '"'))
        setting = tight or name.is_upper()
        if key or (not setting and _PROGRAM.search(text, max(0, line - 160), until + 80)):
            return _SAID
    return _SAID if not tight and name.is_about() else _SURE


def _lowered(text: str) -> str:
    """In small letters, every character at its place."""
    lowered = text.lower()
    # A few capitals become two characters; then only plain letters are changed.
    return lowered if len(lowered) == len(text) else re.sub("[A-Z]+", lambda m: m[0].lower(), text)


def _name_around(text: str, start: int, end: int) -> ValueSpan:
    back = _NAME_BEFORE.match(text[max(0, start - _LONGEST_NAME) : start][::-1])
    ahead = _NAME_AFTER.match(text, end)
    return start - (back.end() if back else 0), ahead.end() if ahead else end


def _quoted(text: str, at: int) -> re.Match[str] | None:
    """What stands in quotes here, as the second group."""
    doubled = text.startswith("'", at) and not text.startswith("'''", at)
    return (_DOUBLED if doubled else _QUOTED).match(text, at)


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
def _is_secret(value: str, held: Promise, place: int, *, quoted: bool, env: bool = False) -> bool:
    """Whether the value of a name that promises a secret is one; its beginning tells."""
    value, text = value[:_LONGEST_LOOK], quoted or env
    if not _is_value(value) or is_public(value) or is_reference(value, text):
        return False
    if held.kind == "password-hash":
        return len(value) >= 32 and is_hash(value)
    if " " in value:
        return held.chosen and not held.weak and quoted and place == _SURE and is_phrase(value)
    if not held.chosen or (held.kind == "secret" and (place < _SURE or len(value) < 8)):
        return _is_key(value, held, place, text=text, env=env)
    odd = oddness(value)
    if odd == 0 and not has_digit(value) and is_field(value, quoted=text):
        return False
    if is_number(value) and (place < _SURE or held.weak or held.kind == "secret"):
        return False
    if (place < _SURE or held.weak) and (len(value) < 6 or (held.weak and is_named(value))):
        return False
    look = 3 if is_random(value) else max(odd, has_digit(value))
    return place + look - held.weak >= _SURE


@lru_cache(maxsize=256)
def _is_value(value: str) -> bool:
    """Whether this stands for itself: neither a placeholder nor the label of a field."""
    value = value[:_LONGEST_LOOK]
    return len(value) >= _SHORTEST and not (is_placeholder(value) or is_label(value))


def _is_key(value: str, held: Promise, place: int, *, text: bool, env: bool) -> bool:
    """Whether a key or token, which no person chose, is one."""
    if len(value) < 8 or is_number(value):
        return False
    if held.weak:
        plain = not text and (is_hash(value) or _ENDS_IN_HASH.search(value) is not None)
        if held.kind == "credential" and place == _SURE and text and oddness(value) > 1:
            return True
        return len(value) >= 16 and is_random(value) and not plain
    if is_random(value) or (len(value) >= 16 and is_hash(value)):
        return place == _SURE or len(value) >= 16
    if place < _SURE or (not text and value.isidentifier()):
        return False
    digit = has_digit(value)
    if digit and len(value) >= 12 and text and _is_mixed(value):
        return True
    return (digit and not is_wordy(value)) or (env and len(value) >= 12)


def _is_mixed(value: str) -> bool:
    """Whether small letters, capitals and a longer number are in it, and nothing says "key"."""
    sorts = (_SMALL, _CAPITAL, _NUMBER_INSIDE)
    return all(sort.search(value) for sort in sorts) and not is_named(value)


def in_columns(words: TextWords) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of every secret in a column or block whose heading promises one."""
    text = words.text
    done = 0
    for begin in sorted({text.rfind("\n", 0, at) + 1 for at in words.names}):
        heading = _HEADING.match(text, begin)
        if begin >= done and heading and (mark := _mark(heading)):
            cells = _split(heading[0], mark)
            columns = _columns([cell for _, cell in cells], mark)
            if columns:
                done = yield from _cells(text, heading.end(), mark, len(cells), columns)
    if "Secret" in text and _MANIFEST.search(text):
        yield from _manifests(text)
    for section in _SECTION.finditer(text) if text[:1] == "[" or "\n[" in text else ():
        held = promise(section[1].rstrip("s"))
        if held and held.chosen and not held.weak:
            yield from _settings(text, section.end())
    for insert in _INSERT.finditer(text) if "insert" in words.lowered else ():
        columns = _columns(insert[1].split(","), "|")
        row: re.Match[str] | None = insert
        while columns and row:
            values = list(_SQL_VALUE.finditer(text, *row.span("row")))
            for n, held in columns.items():
                if n < len(values) and _is_value(values[n][1] or ""):
                    yield (*values[n].span(1), held.kind)
            row = _NEXT_ROW.match(text, row.end())


def _settings(text: str, at: int) -> Iterator[tuple[int, int, str]]:
    """Every value of a section whose heading promises secrets: `[passwords]`."""
    while at < len(text) and not text.startswith("[", at) and (line := _SETTING.match(text, at)):
        if line.end() == at:
            break
        value = (line[1] or "").strip(_FRAME)
        if _is_secret(value, _PASSWORD, _SURE, quoted=True):
            begin = text.index(value, line.start(1))
            yield begin, begin + len(value), "password"
        at = line.end()


def _mark(heading: re.Match[str]) -> str:
    """What stands between the cells of a line that can be the heading of a table, or nothing."""
    line = heading[0]
    mark = next((mark for mark in "|\t;," if mark in line), "")
    if not mark and (
        _ALIGNED.match(line) or _ALIGNED_ABOVE_RULE.match(heading.string, heading.start())
    ):
        mark = _GAP
    if not mark:
        return ""
    # Code and sentences have a space after the mark, or end with it; a table has one around it.
    loose = mark in ",;" and (f"{mark} " in line or line.endswith(mark))
    if mark == "|":
        loose = " | " not in line and not line.startswith("|")
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


def _columns(cells: list[str], mark: str) -> dict[int, Promise]:
    """The columns that promise secrets, if these are the names of columns."""
    names = [cell.strip(_FRAME) for cell in cells]
    named = len([name for name in names if name])
    if named < 2 or any(map(is_number, names)) or (mark != "|" and named < len(names)):
        return {}
    held = {
        n: _PASSWORD if is_label(name) or name.lower() == "secret" else promise(name)
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
            for n, (at_cell, cell) in enumerate(cells):
                value = cell.strip(_FRAME)
                held = columns.get(n)
                place = _SURE if held and held.chosen else _SAID
                if held and _is_secret(value, held, place, quoted=held.chosen):
                    begin = line.start() + at_cell + cell.index(value)
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
