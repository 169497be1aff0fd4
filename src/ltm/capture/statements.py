"""Statements of the user and the agent that are meant to last.

A sure statement becomes a memory, a likely one a candidate. What the words of a sentence are worth
is learned (`text.judge`); this module has the signs of where a sentence stands, which sentences are
one statement, and the forms that need no judge: requests to remember, sections of structured notes,
the cause an agent names, and the next steps it lists.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ltm.capture.decide import Candidate, Certainty
from ltm.capture.message import Sentence, joined, opening, said, tidy, told, with_reason
from ltm.errors import WrongUsage
from ltm.kinds import Kinds
from ltm.model import Impact, Scope, Source
from ltm.redact.redact import redacted
from ltm.sessions.turns import ToolUse
from ltm.text.infer import infer_scope
from ltm.text.judge import Judge, first_words, judge, length
from ltm.text.sentences import shortened, title_of

USER, AGENT = "user", "agent"
JOINS = "joins"
"""The question whether a sentence is one statement with the sentence before it."""

FEWEST, LONGEST = 3, 600
"""Words a statement has at least to be sure, and characters a sentence has at most."""
_MUCH = 300
"""Characters of speech from which a message may be a text of another person: then only what it asks
to remember is sure. Few sure statements of the labelled sessions stand in longer ones, and most of
what was pasted without a frame does."""
_ASKED_FOR = 0.95
_TAKEN, _LEANING = 0.5, 0.2
"""How probable it is at least that two sentences are one statement; if the second one leans."""
_PLAIN, _CLEARLY = 0.3, 0.88
"""What a wish or choice in a first message is worth at least, and how clearly it is one."""
_ORDERED = 0.01
"""What an order that begins with "always", "never" or the like is worth at least."""
_RULED = 0.04
"""What an item of a list that is said to hold rules is worth at least to be a candidate."""
_SIZES = (1, 2, 3, 4, 6, 8, 11, 15, 20, 30, 50, 99)
_LENGTH = {size: f"@length {size}" for size in _SIZES}
_PLACE, _AMONG = ([f"@{each} {n}" for n in range(5)] for each in ("place", "sentences"))
_ASKING = ("?", "？")
_QUOTE = re.compile(r"[\"“„«]")
_REPORTED = re.compile(
    r"(?!(?:(?:as|like|and|but|so|ok|wie|como|comme) )*"
    r"(?:i|we|let|you|ich|wir|yo|je|nous|eu|ik|ja|я|мы)\b)"
    r"(?:[^\s,.;:?!]+[ ,]+){1,6}?(?:always |immer |siempre |toujours |sempre )?"
    r"(?:says?|said|thinks?|claims?|writes|wrote|insists?|reckons?|swears|suggests|recommends"
    r"|states?|stated|demands?|advises"
    r"|dicen?|dijo|dijeron|opina|sagte?|meinte?|schreibt|behauptet|dit|disent|écrit|prétend|diz"
    r"|disse|acha|zegt|zei|vindt|mówi|powiedział|говорит|сказал|пишет|diyor|dedi"
    r"|(?:told|tells|asked|asks|wants) (?:me|us))\b"
    r"|according to (?!me\b|us\b|my\b|our\b)|laut (?!mir|uns)|selon (?!moi|nous)"
    r"|según (?!yo|nosotros)|secondo (?!me\b|noi\b)|segundo (?!mim|nós)|volgens (?!mij|ons)"
    r"|według (?!mnie|nas)|по словам"
    r"|(?:\w+\W+){0,3}as an? (?:[\w-]+ ){1,4}?,? ?i (?:\w+ )?(?:want|need)\b"
    r"|[^\"“„«]*[\"“„«][^\s\"”“»]+ [^\"”“»]+[\"”“»]"
    r"|.*(?:[」』](?:と|って)(?:言|い[うっ]|書|述べ)|[说說][:：，]?\s*[“「『\"])",
    re.IGNORECASE,
)
"""What another person or a role says, or a quotation of several words: not the speaker's wish."""
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_LEANS = re.compile(
    r"(?:(?:and|but|so|or|because|otherwise|also) )*"
    r"(?:it|it's|its|they|they're|their|them|that|that's|thats|this|these|those|he|she|same|then)\b"
    r"|(?:i|we|you) (?:(?:do|did|would|could|should|have|was|were|are)(?:n['’]?t)?|am"
    r"|can(?:not|['’]?t)?|won['’]?t)(?=\s*(?:[,.;:!–—]|\Z))"
    r"|(?:(?:ist|war) (?:so|halt|eben|auch|schon|leider)"
    r"|es|das (?:ist|war|hat|wird|muss|geht|gilt)|sie|deshalb|sonst|eso|esto|ça|c'est|elle"
    r"|isso|isto|ele|ela|questo|dat (?:is|moet)|to (?:jest|jest)|это|bu|それ|这|那)\b",
    re.IGNORECASE,
)

_LEANS_LATER = re.compile(
    r"(?:do|use|keep|apply|follow|put|make|leave|add) (?:that|this|these|those) (?:for|in|on|at"
    r"|with|to|when|if|every|each|again|too|instead)\b"
    r"|\w+ (?:it(?!'s| is)|them)\b|(?:\w+ ){1,3}(?:that|this|it|them|those|these)\W*\Z",
    re.IGNORECASE,
)
"""What is not named but in the words before: "keep it until Friday", "never do that"."""
_UNSETTLED = re.compile(
    r".*\b(?:no,? wait|wait,? no|scratch that|no idea|a\) .{3,200}\bb\) )", re.IGNORECASE
)
"""Who says this in the middle of a statement, or names several to choose from, has not made it."""
_JEST = re.compile(
    r"\b(?:lol|lmao|rofl|mdr|ptdr|xd|(?:ha){2,}h?|(?:he){2,}h?|(?:ja){2,}|k{3,})\b"
    r"|哈哈|ㅋㅋ|[😂🤣😆🙃]|(?<=[ぁ-ヿ。])(?:笑|草|[wｗ]+)\W*\Z|[（(]笑[)）]"
    r"|[ ,](?:né|innit|gell?|hein|eh)\b\W*(?:,|\Z)",
    re.IGNORECASE,
)
"""Laughter, and a turn to the hearer: who jokes orders nothing."""
_WITHDRAWS = re.compile(
    r"\W*(?:(?:h+m+|no|nope|ok(?:ay)?|wait|actually|sorry|oh|ah|well|but|nein|ne|ach|nee|doch|non|não|нет)"
    r"[\s,.!…:;–—-]+)*"
    r"(?:(?:scratch|strike|scrap|forget|ignore) (?:that|this|what i (?:just )?said)"
    r"|never ?mind(?: that)?(?=\s*[,.!:;–—-])|vergiss das|kommando zurück|oublie ça"
    r"|olvida (?:eso|lo)|esquece isso|lascia stare|забудь(?: это)?|算了|やっぱり)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Setting:
    """Where in a session a message stands."""

    speaker: str = USER
    first: bool = False
    """Whether the session begins with it."""
    turn: int = 2
    """How many messages of the user came before it."""
    message: tuple[str, ...] = ("@turn 2",)
    """Signs of the user's message as a whole."""
    asked: bool = False
    """Whether the words before it end with a question."""
    worked: bool = False
    """Whether tools ran since those words, or since the user spoke when it is the agent's."""
    failed: bool = False
    """Whether a command failed since the user spoke."""
    changed: bool = False
    """Whether a file was changed since the user spoke."""
    answer: str = ""
    """What the user said to it, when it is the agent's."""


ANYWHERE = Setting()


def withdraws(spoken: Sequence[Sentence]) -> bool:
    """Whether a message takes back what its writer said in the one before."""
    return any(_WITHDRAWS.match(each.text) for each in spoken[:2])


def sentences_of(text: str, setting: Setting) -> Sequence[Sentence]:
    """The sentences of a message that its writer wrote."""
    return said(text) if setting.speaker == USER else told(_EMPHASIS.sub("", text))


def signs(spoken: Sequence[Sentence], place: int, setting: Setting) -> list[str]:
    """The signs of where a sentence stands, by which the judge knows them."""
    sentence = spoken[place]
    plain = sentence.text.rstrip()
    size = _size(plain)
    found = [_LENGTH[size], _PLACE[min(place, 3)], _AMONG[min(len(spoken), 4)]]
    named = (
        ("@last", place == len(spoken) - 1),
        ("@listed", sentence.listed),
        ("@ruled", sentence.ruled),
        ("@question", plain.endswith(_ASKING)),
        ("@quoted", _QUOTE.search(plain)),
        ("@first", setting.first),
        ("@first, alone", setting.first and len(spoken) == 1),
        ("@asked", setting.asked),
        (f"@asked, length {size}", setting.asked),
        (f"@asked, place {min(place, 2)}", setting.asked),
        ("@worked", setting.worked),
        ("@failed", setting.failed),
        ("@changed", setting.changed),
    )
    found += [name for name, holds in named if holds]
    if setting.speaker == USER:
        found += setting.message
    if place:
        found += _beginning("before", spoken[place - 1].text)
    if place + 1 < len(spoken):
        found += _beginning("after", spoken[place + 1].text)
        found += ["@question after"] * spoken[place + 1].text.rstrip().endswith(_ASKING)
    return [*found, *_beginning("answer", setting.answer)] if setting.answer else found


def _size(text: str) -> int:
    """How many words a text has, roughly."""
    return _SIZES[bisect_left(_SIZES, length(text), 0, len(_SIZES) - 1)]


def _of_message(spoken: Sequence[Sentence], turn: int) -> tuple[str, ...]:
    """Signs of a message of the user: how far into the session it is, how long, if it asks."""
    found = [f"@turn {min(turn, 2)}"]
    if len(spoken) > 1:
        length = sum(len(each.text) for each in spoken)
        found.append(f"@message {min(5, max(0, length.bit_length() - 4))}")
        if any(each.text.rstrip().endswith(_ASKING) for each in spoken):
            found.append("@message asks")
    return tuple(found)


def _beginning(where: str, text: str) -> list[str]:
    begins = first_words(text[:80], 2)
    return [f"@{where} {' '.join(begins[:n])}" for n in range(1, len(begins) + 1)]


def statements(
    text: str,
    kinds: Kinds,
    source: Source,
    setting: Setting = ANYWHERE,
    model: Judge | None = None,
    least: float | None = None,
) -> Iterator[Candidate]:
    """The statements of one message that are sure or likely to be meant to last.

    `least` is how much one is worth at least, where more is known than its words.
    """
    model = model or judge()
    spoken = sentences_of(text, setting)
    if setting.speaker == USER:
        setting = replace(setting, message=_of_message(spoken, setting.turn))
    likely, sure = model.tiers[setting.speaker]
    likely = likely if least is None else least
    worth = [
        model.worth(setting.speaker, each.text, signs(spoken, place, setting))
        if len(each.text) <= LONGEST
        else 0.0
        for place, each in enumerate(spoken)
    ]
    asked, ordered, long = [""] * len(spoken), [False] * len(spoken), False
    if setting.speaker == USER:
        for place, each in enumerate(spoken):
            text = each.text[:LONGEST]
            asked[place] = asked_for(text)
            order = is_standing_order(text) and not _LEANS_LATER.match(text)
            ordered[place] = order and worth[place] >= _ORDERED
            if place and points_back(text):
                asked[place - 1] = asked[place - 1] or spoken[place - 1].text
                worth[place] = 0.0
        long = sum(len(each.text) for each in spoken) > _MUCH
    own_words = setting.first and not any(_QUOTE.search(each.text) for each in spoken)
    least_of = [min(likely, _RULED) if each.ruled else likely for each in spoken]
    weighed = zip(asked, ordered, worth, least_of, strict=True)
    counts = [bool(wish) or order or each >= enough for wish, order, each, enough in weighed]
    for group in _groups(spoken, worth, asked, counts, model):
        first = group[0]
        chosen = max(worth[place] for place in group)
        explicit = any(asked[place] for place in group)
        parts = [tidy(asked[place] or spoken[place].text) for place in group]
        whole = joined(*parts)
        if not whole or length(whole) < 2:
            continue
        wanted = ordered[first] or (
            own_words and _PLAIN <= chosen < sure and _is_choice(whole, kinds, model)
        )
        # What leans on the words before it cannot be understood without them.
        plain = tidy(spoken[first].text)
        leans = _LEANS.match(plain) or _LEANS_LATER.match(plain) or length(whole) < FEWEST
        jokes = any(_JEST.search(spoken[place].text) for place in group)
        undecided = jokes or is_reported(whole) or _UNSETTLED.match(whole)
        doubtful = any(spoken[place].doubtful for place in group)
        is_sure = (chosen >= sure or wanted) and not (leans or long or undecided or doubtful)
        speaks = (f"@{setting.speaker}",)
        kind, _ = model.best("kind", whole, speaks)
        claim, reason = with_reason(whole)
        yield Candidate(
            kind=kind if kind in kinds else kinds.default.name,
            text=whole,
            title=title_of(tidy(claim) if len(claim.split()) >= FEWEST else whole),
            weight=_ASKED_FOR if explicit else chosen,
            source=source,
            impact=Impact(model.best("impact", whole, speaks)[0]),
            scope=infer_scope(whole, model) if setting.speaker == USER else Scope.PROJECT,
            reason=reason,
            tier=Certainty.SURE if (explicit and not doubtful) or is_sure else Certainty.LIKELY,
        )


def _groups(
    spoken: Sequence[Sentence],
    worth: Sequence[float],
    asked: Sequence[str],
    counts: Sequence[bool],
    model: Judge,
) -> Iterator[list[int]]:
    """The places of the sentences that are worth something, with those that belong to them."""
    group: list[int] = []
    for place in range(len(spoken)):
        if group and (counts[place] or worth[place] > 0) and _joins(spoken, place, model):
            group.append(place)
        elif counts[place]:
            if group:
                yield group
            before = place - 1
            takes = place and not (group and group[-1] == before) and _joins(spoken, place, model)
            asks = place and spoken[before].text.rstrip().endswith(_ASKING)
            group = [before, place] if takes and not asks and not asked[place] else [place]
        elif group:
            yield group
            group = []
    if group:
        yield group


def _joins(spoken: Sequence[Sentence], place: int, model: Judge) -> bool:
    """Whether a sentence is one statement with the one before it."""
    if spoken[place].listed or spoken[place].ruled or len(spoken[place].text) > LONGEST:
        return False
    leans = _LEANS.match(spoken[place].text)
    if not leans and (
        is_standing_order(spoken[place].text)  # a later order must not put the other out of force
        or length(spoken[place - 1].text) < 2  # "Commit." says nothing of the rule that follows
    ):
        return False
    least = _LEANING if leans else _TAKEN
    return model.worth(JOINS, spoken[place].text, pair_signs(spoken, place)) >= least


def pair_signs(spoken: Sequence[Sentence], place: int) -> list[str]:
    """The signs by which the judge knows what a sentence and the one before it are together."""
    before = spoken[place - 1].text.rstrip()
    ends = f"@before ends {before[-1:]}" if before[-1:] in "?!.:," else "@before ends"
    return [f"@before length {_size(before)}", ends, *signs(spoken, place, Setting())]


def _is_choice(text: str, kinds: Kinds, model: Judge) -> bool:
    """Whether a text clearly is a wish, a choice or a convention: first messages mostly describe
    tasks, so the judge is unsure of whatever stands in them."""
    shares = model["kind"].shares(text, (f"@{USER}",))
    return sum(shares.get(kind.name, 0.0) for kind in kinds if kind.choice) >= _CLEARLY


# Requests to remember

_ENGLISH = (
    r"\b(?<!do you )(?<!i )(?<!can't )(?<!cannot )(?:remember|memori[sz]e|keep in mind|bear in mind"
    r"|make a (?:mental )?note|take note|note (?=that\b|:|for later|to self|the following)"
    r"|do(?:n't|nt| not) forget|(?:save|add) (?:this|that|it) (?:to|in) (?:your |the )?memory)\b"
    r"(?!\s+(?:when|how|why|what|who|where|which|last|if|the time|correctly|right|me\b|my name"
    r"|to\b(?! self)))"
    r"(?:\s*\b(?:for (?:later|next time|the future)|to self|the following[^:]{0,60}(?=:)|this"
    r"|once more)\b)*"
)
_SPACED = (
    r"\b(?:merke? (?:dir|euch)|vergiss nicht|behalte im kopf|onthoud|vergeet niet|recuerda"
    r"|acuérdate de|ten en cuenta|no olvides|toma nota|lembre(?:-se)?(?: de)?"
    r"|não (?:se )?esqueça|anota aí|souviens-toi|rappelle-toi|n'oublie pas|retiens|note bien"
    r"|ricorda(?:ti)?|non dimenticare|tieni presente|zapamiętaj|pamiętaj|запомни|учти|имей в виду"
    r"|не забудь|запам'ятай|unutma|aklında tut|zapamatuj si|nezapomeň|muista|kom ihåg)\b"
)
_UNSPACED = (
    r"请?(?:记住|记得|别忘了|記住|記得|別忘了)|請(?:記住|記得)|覚えておいて(?:ください)?"
    r"|忘れないで(?:ください)?|기억해(?: 줘| 주세요)?|잊지 마(?:세요)?"
)
_ASKED = rf"(?:{_ENGLISH}|{_SPACED}|{_UNSPACED})"
_FIRST = re.compile(
    rf"{_ASKED}[\s,:：，、!–—-]*(?:(?:that|que|dass|che|dat|że|что|що|že|että|att)\b)?"
    r"[\s,:：，、–—-]*(?P<what>\S.{3,})",
    re.IGNORECASE | re.DOTALL,
)
_LAST = re.compile(
    r"(?P<what>\S.{7,}?)[,;，；、–—-]+\s*(?:so |and |but )?(?:please )?(?:(?:remember|keep|bear"
    rf"|note|memori[sz]e) (?:that|this|it)(?: in mind)?(?:[,\s]*please)?|(?:{_SPACED}|{_UNSPACED})"
    r"(?:\s+\w+){0,2})[.!。！]*\Z",
    re.IGNORECASE | re.DOTALL,
)
_MARK = re.compile(rf"remember|memori|in mind|note|forget|memory|{_SPACED}|{_UNSPACED}")
_TAIL = r"(?: (?:please|pls|down|well|for (?:later|next time|the future)|in (?:the )?future))*"
_POINTS_BACK = re.compile(
    r"(?:(?:and|so|please|pls|ok)[ ,]*)*(?:(?:remember|memori[sz]e|note) (?:that|this|it|these)"
    r"|(?:keep|bear) (?:that|this|it) in mind"
    rf"|(?:save|add) (?:that|this|it) (?:to|in) (?:your |the )?memory){_TAIL}\Z"
    rf"|(?:{_SPACED}|{_UNSPACED})(?:,? (?:das|dies|dit|dat|eso|esto|ça|cela|isso|isto|questo|to"
    r"|это|це|bunu|toto|bitte|por favor|stp|per favore))*\Z",
    re.IGNORECASE,
)

_BARE = re.compile(r"(?:the|my|our|your|these|those) [\w-]+(?:,? please)?[.!]*\Z", re.IGNORECASE)
"""A thing and nothing about it: "remember the port" asks the agent to find out and keep it."""


_ORDER = re.compile(
    r"(?:(?:and|but|also|ok|please|pls|bitte|por favor|s'il te plaît)[ ,]+)*"
    r"(?:(?:always|never)(?! (?:mind|understood|knew|heard|saw|seen|had|been|was|thought|got|here"
    r"|(?!embed|feed|need|proceed|seed)\w{2,}ed|\w+[^s\W]s)\b)"
    r"|from now on|going forward|immer|niemals|ab (?:jetzt|sofort)"
    r"|nie(?= (?:auf|direkt|ohne|mit|wieder|etwas|an|den|die|das|einen?|zu|vor|nach|in)\b)"
    r"|siempre|nunca|a partir de (?:ahora|agora)|toujours|jamais|désormais|dorénavant|sempre"
    r"|d'ora in poi|altijd|nooit|vanaf nu|zawsze|nigdy|od teraz|всегда|никогда|отныне|завжди"
    r"|ніколи|her zaman|asla|vždy|nikdy|aina|alltid|aldrig)\b.{8,}[^?？]\Z"
    r"|(?:总是|永远不要|以后|今後は|必ず|絶対に|항상|절대|앞으로).{4,}[^?？]\Z"
    r"|[^?]{8,}\b(?:from now on|going forward|ab (?:jetzt|sofort)|künftig|de ahora en adelante"
    r"|a partir de (?:ahora|agora)|daqui em diante|désormais|dorénavant|d'ora in poi|vanaf nu"
    r"|od teraz|отныне|bundan sonra)(?:,? (?:please|pls|bitte|por favor|s'il te plaît))?[.!]*\Z",
    re.IGNORECASE | re.DOTALL,
)


def is_reported(sentence: str) -> bool:
    """Whether a sentence says what another person says or wants."""
    return bool(_REPORTED.match(sentence))


def is_standing_order(sentence: str) -> bool:
    """Whether a sentence begins or ends as an order that holds from now on."""
    return bool(_ORDER.match(sentence.strip()))


def asked_for(sentence: str) -> str:
    """What a sentence asks to remember; '' when it asks nothing, or names nothing."""
    if not _MARK.search(sentence.lower()) or sentence.rstrip().endswith(_ASKING):
        return ""
    if points_back(sentence):
        return ""
    found = _LAST.match(sentence) or _FIRST.search(sentence)
    what = found["what"].strip() if found else ""
    return "" if _BARE.match(what) else what


def points_back(sentence: str) -> bool:
    """Whether a sentence asks to remember the one before it."""
    return bool(_POINTS_BACK.match(sentence.strip(" .!。！")))


# Structured notes

_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*\s*$")
_BULLET = re.compile(r"^[-*+]\s+(?:\[[ xX]\]\s+)?(?P<text>\S.*)$")
# The lines of Memory Keeper's template, to the letter: "[WIP] …" is the user's own words.
_PLACEHOLDER = re.compile(
    r"\[[^\]\n]*\]\Z|\.{3}\Z|(?:none|n/a|tbd)\.?\Z"
    r"|\[?(?:what was accomplished|decision(?: \d+| content)?|pattern(?: discovered| description)?"
    r"|issue(?: found| description)?|another (?:decision|pattern)|fixed something)\]?"
    r"(?:: \[?(?:(?:its )?reason(?: why)?|why|open|resolved|open/resolved|open\|resolved)\]?)?\Z",
    re.IGNORECASE,
)
_TYPE = (
    r"(?:architecture|technology|approach|convention|best-practice|anti-pattern|bugfix|performance"
    r"|security|feature|other)"
)
_TYPES = re.compile(rf"\[({_TYPE}(?:\|{_TYPE})*)\]\s*", re.IGNORECASE)
_SECTIONS = ("decisions", "patterns", "issues", "gotchas", "facts", "learnings", "preferences")
_STATE = re.compile(r"[:–—-]\s*\(?(open|resolved)\)?\s*\Z", re.IGNORECASE)


def notes(
    text: str, kinds: Kinds, source: Source, sections: Collection[str] = _SECTIONS
) -> Iterator[Candidate]:
    """Candidates from every bullet of a section whose heading names a kind, in the plural."""
    kind = ""
    depth = 0
    for line in text.split("\n"):
        heading = _HEADING.match(line)
        if heading:
            level, name = len(heading[1]), heading[2].strip().lower()
            if name in sections:
                kind, depth = _kind(name, kinds), level
            elif level <= depth:
                kind = ""  # a deeper heading only groups the section's bullets
            continue
        bullet = _BULLET.match(line)
        if not kind or not bullet:
            continue
        tags, what = typed(bullet["text"].strip())
        if not is_placeholder(what) and len(what.split()) >= 2:
            yield _noted(what, tags, kind, kinds, source)


def is_placeholder(text: str) -> bool:
    """Whether a line of a note is one of a template that was not filled in."""
    return bool(_PLACEHOLDER.match(text))


def typed(text: str) -> tuple[tuple[str, ...], str]:
    """The type that a line of Memory Keeper's notes may begin with, as tags, and the rest of it."""
    found = _TYPES.match(text)
    types = found[1].lower().split("|") if found else ()
    return tuple(each for each in types if each != "other"), text[found.end() if found else 0 :]


def _noted(what: str, tags: tuple[str, ...], kind: str, kinds: Kinds, source: Source) -> Candidate:
    if kinds[kind].states:
        found = _STATE.search(what)
        state = found[1].lower() if found else kinds[kind].first_state
        return Candidate(kind, tidy(_STATE.sub("", what)), 0.9, source, state=state, tags=tags)
    claim, _, reason = what.rpartition(": ")  # what and why
    if claim.count("`") % 2 or len(claim.split()) < 2:
        claim, reason = what, ""
    title = title_of(tidy(claim))
    reason = reason.strip(" .")
    return Candidate(kind, tidy(what), 0.9, source, title=title, reason=reason, tags=tags)


def _kind(name: str, kinds: Kinds) -> str:
    try:
        return kinds.parse(name).name
    except WrongUsage:
        return kinds.default.name


# What the agent reports

NAMED, EXPLAINED = 0.1, 0.004
"""How much a sentence is worth at least to be a cause: anywhere, and between failure and change."""
_CAUSE_SENTENCES = 20
"""Sentences of a report in which a cause is looked for."""
_LEFT = (
    r"(?:next(?: steps?| up)?|remaining(?: work| tasks?| items?| steps?)?|to[- ]?dos?(?: next)?"
    r"|still (?:to do|open|missing|left|pending)|what(?:'s| is) (?:left|next|missing|still open)"
    r"|not (?:yet )?(?:done|finished)(?: yet)?|left to do|(?:still )?open(?: points?| items?"
    r"| tasks?)?|outstanding|pending|follow[- ]?ups?)"
)
_STEPS_HEADING = re.compile(rf"(?:\A|[.!]\s)\W*{_LEFT}\W*\Z", re.IGNORECASE)
_INLINE = re.compile(
    rf"(?:(?:^|[.!;]\s+)\W{{0,6}}{_LEFT}\s*:"
    r"|\b(?:next step|next up|what remains|what is left|remaining work) is)\s+(?P<what>\S.{8,400})",
    re.IGNORECASE,
)
_STEP = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+(?:\[ \]\s+)?(?P<text>\S.*)$")
_OFFER = re.compile(
    r"\b(?:let me know|would you like|do you want|if you(?:'d| would)? like|want me to|shall i"
    r"|should i|optional|you (?:can|could|may|might)|consider)\b|\?\s*\Z",
    re.IGNORECASE,
)
_COMPLETE = re.compile(
    r"\A\W{0,4}all done\b|\beverything (?:is|was) (?:done|complete|finished|implemented)\b"
    r"|\b(?:is|are) (?:now )?(?:fully |entirely |all )?(?:complete|implemented|finished)"
    r"(?: and|[.!]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_MOST_STEPS = 6
_MARKUP = re.compile(r"\*\*|__|`{3,}")


def cause_in(text: str, model: Judge, least: float = NAMED) -> str:
    """The sentence of a report that most likely says what was wrong, or nothing."""
    worth, found = _likeliest_cause(text, model)
    return found if worth >= least else ""


@lru_cache(maxsize=4)
def _likeliest_cause(text: str, model: Judge) -> tuple[float, str]:
    setting = Setting(AGENT, worked=True, failed=True)
    spoken = sentences_of(text, setting)[:_CAUSE_SENTENCES]
    best, found = 0.0, ""
    for place, each in enumerate(spoken):
        worth = model[AGENT].worth(each.text, signs(spoken, place, setting))
        is_statement = not each.text.rstrip().endswith(("?", ":"))
        if worth >= best and is_statement and not is_standing_order(each.text):
            best, found = worth, each.text
    return best, tidy(found)


def from_words(text: str, source: Source) -> Iterator[Candidate]:
    """The next steps the agent names in its last words on a task."""
    steps: list[str] = []
    listing = False
    for line in text.split("\n"):
        if _STEPS_HEADING.search(line[-100:]):
            listing = True
            continue
        bullet = _STEP.match(line)
        if listing and bullet:
            steps.append(_step(bullet["text"]))
        elif listing and line.strip():
            listing = not steps and line.rstrip().endswith(":")
    if not steps:
        for paragraph in text.split("\n"):
            found = _INLINE.search(_MARKUP.sub("", paragraph[:1_000]))
            if found:
                steps.append(_step(found["what"]))
    steps = [step for step in steps if step and not _OFFER.search(step)]
    if steps:
        yield _progress((), steps, source)


def is_complete(text: str) -> bool:
    """Whether the agent says that nothing of the work is left."""
    return bool(_COMPLETE.search(text[:1_000]))


def from_tasks(turn: ToolUse, source: Source) -> Iterator[Candidate]:
    """What a task list says when some of it is done and some is not."""
    todos = turn.input.get("todos")
    if not isinstance(todos, list):
        return
    done: list[str] = []
    left: list[str] = []
    for todo in todos:
        if isinstance(todo, dict) and isinstance(todo.get("content"), str):
            task = _step(redacted(opening(todo["content"], 1_000)))
            (done if todo.get("status") == "completed" else left).append(task)
    if done and left:
        yield _progress(done, left, source)


def _progress(done: Sequence[str], left: Sequence[str], source: Source) -> Candidate:
    text = f"Next: {'; '.join(left[:_MOST_STEPS])}."
    if done:
        text = f"Done: {'; '.join(done[-_MOST_STEPS:])}.\n\n{text}"
    return Candidate(
        kind="progress",
        title=shortened(f"Next: {left[0]}", 80),
        text=text,
        weight=0.7,
        source=source,
        impact=Impact.MEDIUM,
        fleeting=True,
    )


def _step(text: str) -> str:
    return shortened(" ".join(_MARKUP.sub("", text).split()).rstrip(".;,"), 240)
