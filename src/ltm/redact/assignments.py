"""Secrets that only the place gives away: next to a name that promises one, or in a login.

A name (`password`, `--token`, `API_KEY`, `пароль`) is tied to its value by a mark, by the words of
a sentence, or by heading its column. How sure the place is decides how much the value itself must
look made up: where nothing but a password can stand, any word is one. Every step is bounded, so
that time grows with the text and no faster. Imports `core.keynames` and `core.looks`.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise

from ltm.redact.key_names import Promise, any_of, is_label, names, promise, spoken_promise
from ltm.redact.values import (
    has_digit,
    is_field,
    is_hash,
    is_named,
    is_number,
    is_phrase,
    is_placeholder,
    is_plain,
    is_random,
    is_reference,
    is_wordy,
    oddness,
    words,
)

_FAR, _NEAR, _SAID, _SURE = range(4)
"""How sure a place is. What a person chose must look made up (`oddness`) to make three of it."""
_LONGEST_NAME = 64
_LONGEST_LOOK = 256
_LONGEST_SENTENCE = 120
_LONGEST_HEADING = 30
_MOST_WORDS = 10
_SHORTEST = 4
_NAME_BEFORE = re.compile(r"[A-Za-z0-9_.-]*")
_NAME_AFTER = re.compile(r"[A-Za-z0-9_-]*")
_WORD_BEFORE = re.compile(r"[ -]([A-Za-z]+)")

# -- marks that tie a value to a name ------------------------------------------------------------

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
        r"(?![ \t]{0,8}\r?\n)"
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
    # `<key>Password</key><string>…</string>`
    "listed": _Tie(r"</key>\s{0,40}<string>"),
    # `name: DB_PASSWORD, value: …`, `variable "db_password" { default = … }`
    "valued": _Tie(
        r"\\{0,15}[\"']?[\s,{]{1,40}"
        r"(?:(?:type|description|sensitive)[ ]{0,20}=[^\n]{0,80}\n[ \t]{0,40}){0,3}"
        r"(?:--)?\\{0,15}[\"']?(?:[Vv]alue|default(?:Value)?|body|secret-string)\\{0,15}[\"']?"
        r"[ \t]{0,4}[:= ][ \t]{0,4}"
    ),
    # `<password>…</password>`, `<property name="password">…`, `<Password><Value>…</Value>`
    "element": _Tie(
        r"(?:[ ]{0,3}>|\\{0,15}[\"'][ ]?>|>\s{0,40}<\w{1,20}>|[ ]encoding=\"\w{1,12}\">)"
        r"(?:<!\[CDATA\[)?"
        r"(?=[^<>\n]{4,512}(?:</|\]\]>))"
    ),
    # `ALTER USER me PASSWORD '…'`, `requirepass "…"`
    "quoted": _Tie(r"[ \t]{1,8}(?=[\"'])", _NEAR, True),
    "pointed": _Tie(
        rf"[\"'`*]{{0,3}}(?:[ ]?(?:->|→|⇒|—|–)[ ]?|[ ]-[ ]|[ ]?[:=]\s{{1,12}}){_SCHEME}{_OPENING}",
        _SAID,
    ),
    "cell": _Tie(rf"[\"'`*]{{0,3}}[ ]{{0,40}}\|[ ]{{0,8}}{_SCHEME}", _SAID),
    "foreign": _Tie(
        rf"(?:(?<=[{_CHARACTERS}])[{_CHARACTERS} ]{{0,10}}[:：(（][ ]?"
        rf"|[ ]?(?:是|为|為|改为|改成了?|は|는|은|คือ)[ :：]?"
        rf"|[{_CHARACTERS}。、，]{{1,16}}(?=[「『“])){_OPENING}"
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
_CLOSING = re.compile(r"\)(?=[.,;)\]}\s]|\Z)")
_TRAIL = ".,:;)]}*"
_CELL_ENDS = ("", "\n", "\r", ",", "`")
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
_DOTTED = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+[?!]?[(\[]?")
_DOTTED_WORDS = re.compile(r"[^\W_]+(?:[._-][^\W_]+)+\Z")
_CHANGED = re.compile(r"(?i:\b(?:re)?set|chang|updat|switch|änder|cambi)")
# A sentence about passwords as such.
_ABOUT = re.compile(
    r"(?i:\b(?:forg[oe]t\w{0,4}|wrong|invalid|incorrect|bad|missing|no|without|empty|expired|failed"
    r"|enter|ask\w{0,3}|need|who|what|which|if|how|where|when|check|verif\w{0,5}|validat\w{0,5}"
    r"|hash\w{0,3}|require[sd]?|unexpected|each|every|any|this|rotate|strong|weak)[ ]"
    r"(?:[\w'-]{1,20}[ ]){0,2})\Z"
)

# -- sentences -----------------------------------------------------------------------------------

_LINKS = {
    **dict.fromkeys(
        words(
            "is was it's it’s that's 's ’s ist lautet lauten heißt est c'est c’est es é è это"
            " = : ： — – -> → =>"
        ),
        _SURE,
    ),
    **dict.fromkeys(
        words(
            "use try enter type to its are be sarebbe serait sería seria war était era son är er on"
            " je jest este"
            " είναι هي היא là adalah คือ şu yra ir - / |"
        ),
        _SAID,
    ),
    **dict.fromkeys(
        words(
            "with using then from as and mit auf und dann avec en et con com y e"
            " med och og met z с и pass key code schlüssel clave clé"
        ),
        _NEAR,
    ),
}
"""Words and marks before what something is, and how sure they make it."""
_STILL = words(
    "now still currently again actually just simply nu jetzt trouwens übrigens « ‹ „ set changed"
    " updated been has got"
)
_OF = words(
    "for of on in at fürs beim aufs für von vom zum zur de du da do del des della sul sur dans para"
    " pour к на в w na от для до voor för till til på di"
    " per k do la der den dem le the i"
)
"""Words before that to which a password belongs."""
_EQUALS = re.compile("[ ]{0,4}=")
_MARK = re.compile(r"[\"'`*]{0,3}[ ]{0,4}[:=]")
_LATER = re.compile(rf"[^\s\"`,{_FOREIGN}]+")
_AROUND = "\"'`*„“”«»‹›「」『』()"
_SENTENCE = ("", " ", ":", "'", "’", ")", '"', ",", "`", "*", "?")
_CODE = re.compile(r"[={}<>\\|\[\]]|::|//")
_CALL = re.compile(r"\w\(")
# What no sentence of mere words has.
_MADE_UP = re.compile(r"\d|[!#$%^&*~+]|[a-z][-_][A-Z]")
_NAMES = words(
    "password passwords passwd pwd pw token tokens secret secrets passwort fingerprint fingerprints"
    " id ids identifier hash hashes type file files path"
)
"""Words after which a sentence is about something else."""
_BELOW = re.compile(r"[ \t]{0,8}(?:\r?\n[ \t]{0,8}){1,2}(\S{4,128})[ \t]{0,8}(?=\r?\n|\Z)")
# Where a thought ends, or something else begins.
_ENDS = re.compile(
    r"[\"'`*”»)\]]{0,3}(?:[.!?,;]{0,2}(?:[ \t]{0,8}(?:\r?\n|\Z))|[.,;!?)](?=\s)"
    r"|[ ]\*/|[\"'\\]|[ ](?:[(—–-]|"
    r"(?:btw|fyi|atm|ok|pls|please|thx|thanks|and|but|if|in case|bitte|und|por|et|и)"
    r"(?!\w)))"
)
_LOGINS = ("login", "credential")
# `root / …`, `(me, …)`, `me:…`
_PAIR = re.compile(
    r"(?<![\w./@-])(?P<user>[\w.@+-]{2,40})[\"'`]?"
    r"(?:[ ]/[ ]|[/:](?!/)|[ ]?\|[ ]|,[ ](?=[^()\n]{4,64}\)))"
    r"[\"'`]?(?P<value>[^\s\"'`,;/]{4,64})(?!/)"
)
_JOINED = re.compile(r"[ ][/|][ ]|\w[\"'`]?[/:](?!/)\S|\(\w")
_JOINT = re.compile(r"[:/]")
_USERS = words("admin root guest sa postgres administrator pi operator beheerder ubuntu")
_AGAIN = re.compile(
    r"[\"'`*]{0,2}(?:,?[ ](?:to|or|and|now|then|oder|und|auf|ou|et|o|y|e|или|и)"
    r"|[,;.]?[ ](?:(?:and|but)[ ])?(?:the[ ]|my[ ])?[\w-]{1,16}[ ]one"
    r"(?:['’]s|[ ]is|[ ]was|[ ]to)(?:[ ]now)?:?)"
    r"[ ][\"'`*]{0,2}([^\s\"'`,;()*]{5,63}[^\s\"'`,;()*.:?!])"
)
_OF_WHICH = re.compile(
    r"(?:[\"'`*]{0,2} (?:as|is|was|als|comme|como|come) |[\"'`*]{0,2},? \()"
    r"(?:(?:the|my|our|your|its|a|an|das|le|la|el|il|new|old) ){0,2}(?:[\w-]{1,20} ){0,3}?\Z"
)
_BEFORE_NAME = (" as ", " is ", " was ", " (", " als ", " com")
_LONGEST_TITLE = 60
# `it's … for the password`, `it's … by the way, the password`
_FOR_WHICH = re.compile(
    r"\b(?:[Ii]t(?:['’]?s| is)|[Uu]se|[Tt]ry|[Tt]ype|[Ee]nter) ([^\s\"'`,;:]{6,64})"
    r"(?: for |(?: [a-z ]{2,16})?, | when (?:it |you )?[a-z ]{2,20} for )"
    r"(?:(?:the|my|our|your|a) )?(?:[\w-]{1,20} ){0,2}\Z"
)
_STOP = re.compile("[.!?,][ ]")
# The next sentence says it: `I changed the password. The new one is …`
_THEN = re.compile(
    r"(?:[ ][^\s.!?]{1,20}){0,4}[.!?][ ](?P<subject>(?:[^\s.!?\"]{1,16}[ ]){0,5}?)"
    r"(?i:try|use|is|it['’]?s|was|c['’]est|es|è|é|est|ist|lautet|он|она|agora|är|er|on|je|—)"
    r"(?:[ ](?:now|det))?:?[ ][\"'`„“«]?(?P<value>[^\s\"'`,;„“«»]{4,64})"
)
_NOW = (
    r"(?i:now|maintenant|ahora|agora|ora|теперь|тепер|jetzt|nu|uusi|nové|nye|nov[aáo]|новий|sekarang"
    r"|most|yenisi|이제|quella|it|one|new|nuova)"
)
_SUBJECTS = re.compile(rf"(?:\S+[ ])?{_NOW}\b|\Z")
_THEN_NOW = re.compile(
    r"(?:[ ][^\s.!?]{1,20}){0,4}[.!?,][ ](?P<subject>" + _NOW + r"[ ])(?P<value>[^\s\"'`,;]{4,64})"
)

# -- looks ---------------------------------------------------------------------------------------

_ENDS_IN_HASH = re.compile(r"[A-Za-z]{3,}[-_.:/][0-9a-f]{32,}\Z")
_SMALL = re.compile("[a-z]{2}")
_CAPITAL = re.compile("[A-Z]")
_NUMBER_INSIDE = re.compile(r"\d\d")
_PASSWORD = Promise("password", weak=False, chosen=True)

# -- columns -------------------------------------------------------------------------------------

_HEADING = re.compile(r"^[\w .|,;\t\"'`*-]{5,400}+(?=\r?$)", re.MULTILINE)
_LINE = re.compile(r"[^\r\n]+")
_RULE = re.compile(r"[-+:=| \t]+\Z")
_GAP = "  "
_ALIGNED = re.compile(
    r"[ ]{0,40}[A-Z][\w./-]{1,29}(?:[ ]{2,60}[A-Z][\w./-]{1,29}){1,12}[ ]{0,40}\Z"
)
_CELL = re.compile(r"\S+(?:[ ]\S+)*")
_FRAME = " \t\"'`*"
_MANIFEST = re.compile(r"[\"']?\bkind[\"']?:[ \t]{0,4}[\"']?Secret[\"']?(?=[\s,}]|\Z)")
_DOCUMENT = re.compile(r"^---", re.MULTILINE)
_DATA = re.compile(r"^([ \t]*)(?:data|stringData):[ \t]*\r?\n", re.MULTILINE)
_ENTRY = re.compile(r"([ \t]*)([\"']?[\w.-]{1,128}[\"']?:[ \t]{1,8})?([^\r\n]*)\r?\n?")
_JSON_DATA = re.compile(r"\"(?:data|stringData)\"\s{0,8}:\s{0,8}\{([^{}]*)\}")
_JSON_ENTRY = re.compile(r"\"[\w.-]{1,128}\"\s{0,8}:\s{0,8}\"([^\"\n]*)\"")

ValueSpan = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Name:
    """A name in a text, and what it promises."""

    text: str
    start: int
    end: int
    held: Promise
    spoken: bool
    """Whether it is a word of another language than English."""
    lowered: str
    """The text in small letters."""

    def is_beside_user(self) -> bool:
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
        return self.is_beside_user()

    def is_about(self) -> bool:
        """Whether the sentence is one about passwords as such."""
        since = max(0, self.start - 60)
        return _ABOUT.search(self.text[since : self.start].rpartition("\n")[2]) is not None

    def until(self) -> int:
        """Where the sentence after it ends at the latest."""
        until = self.text.find("\n", self.end, self.end + _LONGEST_SENTENCE)
        return until if until >= 0 else self.end + _LONGEST_SENTENCE


def assigned(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of every secret that stands by its name."""
    lowered = _lowered(text)
    done = 0
    for found in names(lowered):
        if found.start() < done:
            continue
        held: Promise | None
        if said := spoken_promise(lowered, found):
            start, (done, held) = found.start(), said
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
        name = _Name(text, start, done, held, said is not None, lowered)
        kind = "password" if held.kind == "login" else held.kind
        value = _tied(name) if held.kind != "login" else None
        if value is None:
            value = _told(name)
            kind = "password" if held.kind == "credential" else kind
        while value:
            yield (*value, kind)
            done = value[1]
            value = _again(text, done) if kind == "password" else None


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
    if way == "quoted" and (name.spoken or " " in quoted[2]) and not name.is_about():
        place = _SURE
    held = _firm(name, way, tied, text_follows=True) if place == _SURE else name.held
    return quoted.span(2) if _is_secret(quoted[2], held, place, quoted=True) else None


def _tied_bare(name: _Name, found: re.Match[str], way: str) -> ValueSpan | None:
    """Where the value stands that has no quotes, or only the first of them."""
    text, start, tied, place = name.text, name.start, found[0], _TIES[way].place
    opened = _UNCLOSED.match(text, found.end())
    at = opened.end() if opened else found.end()
    plain = _PLAIN.match(text, at)
    value = _trimmed(plain[0]) if plain else ""
    until = at + len(value)
    several = _SEVERAL.match(text, at) if text[until : until + 1] == " " else None
    if not (several or _is_value(value)):
        return None
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
    if not _is_secret(value, held, _SURE, quoted=quoted, env=env):
        return None
    if way == "assigned" and not env:
        place = _place(name, tied, value, until)
        quoted = quoted and place == _SURE
    if way == "spaced" and value.isalpha() and not (env or is_plain(value)):
        return None
    if way == "spaced" and held.chosen and not (held.weak or value.isalpha() or is_number(value)):
        line = text[max(0, start - 3) : start].rpartition("\n")[2].strip(" >|")
        alone = not line and len(value) >= 6 and _LINE_END.match(text, until)
        place = _SURE if alone else place
    if _TIES[way].place < _SURE and _OTHER_NAME.match(value):
        return None
    if place == _FAR and text[until : until + 1] not in _CELL_ENDS:
        return None
    if not _is_secret(value, held, place, quoted=quoted, env=env):
        return None
    printed = tied.endswith("=3D") or value.startswith("3D")
    more = (_SOFT_BREAK if printed else _HARD_BREAK).match(text, until)
    return at, more.end() if more else until


def _is_own_line(name: _Name, tied: str) -> bool:
    """Whether several words after a name can be one value."""
    before = name.text[max(0, name.start - 1) : name.start]
    key = before in ("", "\n", " ") and "_" in name.text[name.start : name.end]
    first = "=" in tied and (tied != "=" or before in ("", "\n"))
    return key or first or name.is_beside_user()


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


def _pair(name: _Name) -> ValueSpan | None:
    """Where the password stands in what a word for a login is about: `admin / …`."""
    text, start, end = name.text, name.start, name.end
    marked = text[end : end + 1] in (":", "=")
    if name.held.kind not in _LOGINS or not name.held.weak:
        return None
    if text[start:end].lower().startswith("auth") and not marked:
        return None
    until = name.until()
    pair = _PAIR.search(text, end, until) if _JOINED.search(text, end, until) else None
    after = pair is not None
    if pair is None and name.held.kind == "login":
        line = max(text.rfind("\n", 0, start) + 1, start - _LONGEST_TITLE)
        pair = _PAIR.search(text, line, start) if _JOINED.search(text, line, start) else None
    if pair is None or _CODE.search(pair[0]):
        return None
    value = _trimmed(pair["value"])
    at = pair.start("value")
    known = pair["user"].lower() in _USERS
    alone = _ENDS.match(text, at + len(value)) is not None
    sure = after and ((known and is_plain(value)) or (alone and (known or marked)))
    place = _SURE if sure else _NEAR + (alone or known)
    if not (value.isdigit() or is_plain(value) or oddness(value)):
        return None
    return (at, at + len(value)) if _is_secret(value, _PASSWORD, place, quoted=False) else None


def _told(name: _Name) -> ValueSpan | None:
    """Where the value stands that a sentence tells."""
    value = None
    if _EQUALS.match(name.text, name.end):
        return None
    if name.text[name.end : name.end + 1] in _SENTENCE:
        value = _pair(name) or _told_after(name)
    return value or _told_then(name) or _told_before(name)


def _told_after(name: _Name) -> ValueSpan | None:
    """Where the value stands in a sentence that goes on after the name."""
    text, end, held = name.text, name.end, name.held
    if held.kind == "login" and not _MADE_UP.search(text, end, name.until()):
        return None
    less = _MARK.match(text, end) is not None
    link = _NEAR if held.weak else _SAID
    of = said = compound = changed = spread = False
    for word in islice(_LATER.finditer(text, end, name.until()), _MOST_WORDS):
        known = word[0].lower()
        if known[:-1] in _LINKS and known[-1] in ":：":
            below = _BELOW.match(text, word.end())
            if below and _is_secret(_trimmed(below[1]), held, _SAID, quoted=False):
                return below.start(1), below.start(1) + len(_trimmed(below[1]))
            known = ":"
        if known == "=" and not held.chosen:
            return None
        if known in _STILL:
            changed = changed or known in ("set", "changed", "updated")
            continue
        if known in _LINKS:
            link, said = _LINKS[known], True
            if known == "to" and (changed or _CHANGED.search(text, max(0, name.start - 30), end)):
                link = _SURE
            link = min(link, _SAID) if held.weak and held.chosen else link
            continue
        if known in _OF:
            of, link = True, _FAR
            continue
        if known.rstrip(":") in _NAMES:
            return None
        if link < _SURE and word[0].isalpha():  # a mere word, which nothing says it is
            compound = compound or not (of or said or link < _SAID or name.spoken)
            link, of, said = _SAID if of or (name.spoken and link) else _FAR, False, False
            spread = spread or name.spoken
            continue
        if _CALL.search(word[0]):
            return None
        at = word.start()
        if held.chosen and link == _SURE and said:
            quoted = _quoted(text, at - (2 if text.endswith("``", 0, at) else 1))
            if quoted and _is_secret(quoted[2], held, link, quoted=True):
                return quoted.span(2)
            several = _SEVERAL.match(text, at) if held.kind == "passphrase" else None
            if several and is_phrase(several[0], bare=True):
                return several.span()
        value = _trimmed(word[0].strip(_AROUND)).strip(_AROUND)
        if value:
            begin = text.index(value, at)
            ends = said and not compound and _ENDS.match(text, begin + len(value)) is not None
            trust = link - less if held.chosen else link
            if spread and not said and not _ENDS.match(text, begin + len(value)):
                trust = _FAR
            if _is_told(value, held, trust, ends=ends) and (
                not name.is_about() or _is_told(value, held, trust - 1, ends=ends)
            ):
                return begin, begin + len(value)
        if word[0][-1] in ".!;。" or _CODE.search(word[0]):
            return None
        compound = compound or not (of or said or link < _SAID or name.spoken)
        said = word[0][-1] in ":：="
        sure = _SAID if held.weak and held.chosen else _SURE
        link = sure if said else _SAID if of and word[0].isalpha() else _FAR
        of = False
    return None


def _told_then(name: _Name) -> ValueSpan | None:
    """Where the value stands that the next sentence tells: `… password. The new one is …`."""
    if name.held.kind != "password" or name.held.weak:
        return None
    if not _STOP.search(name.text, name.end, name.end + _LONGEST_SENTENCE):
        return None
    found = _THEN.match(name.text, name.end)
    place = _SURE if found and _SUBJECTS.match(found["subject"]) else _SAID
    if found is None and name.spoken:
        found, place = _THEN_NOW.match(name.text, name.end), _SAID
    if found is None:
        return None
    value, at = _trimmed(found["value"]), found.start("value")
    ends = place == _SURE and _ENDS.match(name.text, at + len(value)) is not None
    return (at, at + len(value)) if _is_told(value, name.held, place, ends=ends) else None


@lru_cache(maxsize=1024)
def _is_told(value: str, held: Promise, link: int, *, ends: bool) -> bool:
    """Whether this is what a sentence about a password or a login is about."""
    odd = oddness(value)
    if is_label(value) or is_reference(value, quoted=ends and link == _SURE):
        return False
    if held.kind in _LOGINS:
        return (
            odd > 1
            and not _JOINT.search(value)
            and (link >= _SAID or (link == _NEAR and has_digit(value)))
        )
    if held.kind in ("password", "passphrase"):
        if link <= _FAR:
            return odd == 3 and not value.isalnum() and not held.weak
        if odd == 0:
            return link == _SURE and ends and not held.weak and is_plain(value)
        return odd + link - held.weak >= 3 and len(value) >= 6
    if held.weak:
        return link >= _SAID and len(value) >= 24 and _is_secret(value, held, _SURE, quoted=False)
    if link < _SAID:
        return False
    made_up = link == _SURE and odd > 1 and has_digit(value) and len(value) >= 8
    return made_up or _is_secret(value, held, _SAID, quoted=False)


def _told_before(name: _Name) -> ValueSpan | None:
    """Where the value stands in `… is the password`."""
    text, start, held = name.text, name.start, name.held
    if text[max(0, start - 1) : start] not in (" ", "("):
        return None
    since = max(0, start - _LONGEST_LOOK)
    before = text[since:start]
    if held.kind == "password" and (" for " in before[-40:] or ", " in before[-40:]):
        said = _FOR_WHICH.search(before, max(0, len(before) - 140))
        if said and has_digit(said[1]) and _is_secret(said[1], held, _SAID, quoted=False):
            return since + said.start(1), since + said.end(1)
    title = max(0, len(before) - _LONGEST_TITLE)
    last = max([before.rfind(mark, title) for mark in _BEFORE_NAME])
    if last < 0:
        return None
    between = _OF_WHICH.search(before, max(0, last - 3))
    if between is None:
        return None
    value = before[: between.start()].rpartition(" ")[2].rpartition("\n")[2].strip("\"'`(),:")
    sure = "(" not in between[0] and _ENDS.match(text, name.end) is not None
    quoted = sure and before[between.start() : between.start() + 1] in ("'", '"', "`")
    told = held.chosen and not held.weak and oddness(value) + sure + quoted > 1
    if not (told or (is_random(value) and _is_secret(value, held, _SAID, quoted=True))):
        return None
    if not value or is_placeholder(value) or is_label(value):
        return None
    begin = since + before.rindex(value)
    return begin, begin + len(value)


def _again(text: str, at: int) -> ValueSpan | None:
    """Where the next value stands in `from … to …` and `was …, the new one is …`."""
    found = _AGAIN.match(text, at)
    if found is None:
        return None
    return found.span(1) if _is_secret(found[1], _PASSWORD, _SAID, quoted=False) else None


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
    if not _is_value(value) or is_reference(value, text):
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


def in_columns(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of every secret in a column or block whose heading promises one."""
    done = 0
    for heading in _HEADING.finditer(text):
        if heading.start() >= done and (mark := _mark(heading[0])):
            cells = _split(heading[0], mark)
            columns = _columns([cell for _, cell in cells], mark)
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
