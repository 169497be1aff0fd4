"""Whether a user's words react to what the agent did: a correction, a curse, or neither.

Owns the words, and what only looks like them: "no rush" is kind, "no such file" is pasted, "no" is
an answer when the agent has asked. On real sessions these look-alikes were most of all hits. Pure;
imports the standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_LONGEST = 4_000
"""Characters of a message that are looked at: longer ones are pastes with a word before them."""

# `no` counts before a pause, or before a word that goes on to contradict.
_CORRECTION = re.compile(
    r"""\s*(?:ugh|hey|hmm+|wait|argh?|oh|but|and|ok(?:ay)?|please|claude)?[\s,.!:…-]{0,4}(?:
        no(?:pe)?(?=\s*(?:[,.!;:…—–-]|$|\n)
                   |\s+(?:i|i'm|i'd|it|it's|its|that|that's|thats|this|these|those|you|we|they|not
                     |do|don't|dont|just|use|no|please|still|wait|stop|leave|keep|put|make|let|lets
                     |let's|there|what|why|actually|but|because|my|your|the|always|never|only
                     |instead|go|undo|revert|remove)\b)
      | (?:that(?:'s|\s+is|s)?|this(?:\s+is)?|it(?:'s|\s+is)?|you(?:'re|\s+are)|still)\s+
            (?:completely\s+|totally\s+|just\s+|all\s+|also\s+)?(?:wrong|incorrect)\b
      | wrong\b(?=\s*(?:[,.!;:…—–-]|$|\n)|\s+(?:again|file|branch|approach|way|one|place|folder|dir
            |directory|function|version|project|repo|button|page|order))
      | (?:don't|dont|do\s+not)\s+(?!(?:worry|forget|know|think|mind|see|remember|understand|have
            |hesitate|bother|need|want|get|feel|believe|seem|exist|work|we|you|they|i|it)\b)\w+
      | (?:it|that|this)?\s*(?:didn't|didnt|did\s+not|doesn't|doesnt|does\s+not)\s+
            (?:work|help|fix|change)\b
      | (?:that's|thats|that\s+is|this\s+is|it's|its)\s+not\s+
            (?:what|it|right|correct|true|how|the|where|good\s+enough|working|fixed)\b
      | not\s+what\s+i\b
      | not\s+(?:like\s+that|that\s+one|this\s+one)\b
      | stop(?=\s*(?:[,.!;:…—–-]|$|\n)|\s+\w+ing\b)
      | (?:revert|undo)(?=\s*(?:[,.!;:…—–-]|$|\n)|\s+(?:it|this|that|these|those|your|all\s+your
            |everything|(?:the\s+|last\s+|my\s+)*chang\w*|the\s+last|what)\b)
      | (?:it(?:'s|s|\s+is)?|that(?:'s|s|\s+is)?|this(?:\s+is)?)?\s*still\s+
            (?:broken|failing|fails|not\s+(?:working|fixed|right|there|what)|doesn't|doesnt
            |does\s+not|didn't|didnt|did\s+not|the\s+same|wrong|happening|happens|crashes|crashing)\b
      | i\s+said(?=\s*[,:"'“]|\s+(?:no|not|don't|dont|never|always|only|use|to|that|it|you|we|i)\b)
      | i\s+(?:told\s+you|asked\s+(?:you\s+)?(?:for|to)|already\s+(?:said|told|asked))\b
      | why\s+did\s+you\s+(?:remove|delete|drop|change|rename|skip|ignore|break|overwrite|not)\b
      | why\s+(?:did|are|do|would)\s+you\b(?=.{0,80}\b(?:again|still|keep|when\s+i|instead|not)\b)
      | you\s+(?:forgot|missed|ignored|broke|deleted|removed\s+the|keep\s+\w+ing)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
# Most messages begin with none of these, and need no closer look.
_FIRST_WORD = re.compile(r"[^\w]{0,8}([a-z]+)", re.IGNORECASE)
_BEGINNINGS = frozenset(
    word
    for words in (
        ("ugh", "hey", "wait", "arg", "argh", "oh", "but", "and", "ok", "okay", "please", "claude"),
        ("no", "nope", "wrong", "not", "stop", "revert", "undo", "still", "why", "don", "dont"),
        ("that", "thats", "this", "it", "its", "you", "i", "do", "did", "didn", "didnt", "does"),
        ("doesn", "doesnt"),
    )
    for word in words
)
_KIND = re.compile(
    r"\s*no[\s,]+(?:problems?|worries|rush|hurry|need|thanks?|thank|idea|questions?|biggie|pressure"
    r"|objections?|preference|changes?\s+(?:needed|required)|longer|more|one|matter|doubt|such"
    r"|module|errors?|issues?|tests?|results?|output|response|reply|that'?s\s+(?:fine|ok|okay|good"
    r"|all|it|great|perfect)|it'?s\s+(?:fine|ok|okay|good|perfect|great))\b",
    re.IGNORECASE,
)
_ANSWER = re.compile(r"\s*(?:no(?:pe)?|don'?t|do\s+not|wrong|stop)\b", re.IGNORECASE)
_FORBIDS = re.compile(
    r"\s*(?:(?:and|but|please|ok(?:ay)?|hey|oh)[\s,.!:…-]{1,4})?(?:don'?t|do\s+not)\s+([^.!?\n]{1,200})",
    re.IGNORECASE,
)
_MATTER = re.compile(r"[a-z]{3,}")
_STEM = 5
_CURSE = re.compile(
    r"\b(?:fuck\w*|motherfuck\w*|shit(?:ty|s)?|bullshit|damn(?:it|ed)?|goddamn\w*|wtf|ffs)\b",
    re.IGNORECASE,
)
_CURSES = ("fuck", "shit", "damn", "wtf", "ffs")
_AT_SOMEBODY = re.compile(r"\b(?:you|your|stop|keep|again|why)\b", re.IGNORECASE)
_PLEASED = re.compile(
    r"\b(?:nice|great|good|awesome|amazing|love|cool|perfect|impressive|beautiful|works|fast"
    r"|thank\w*|well\s+done|congrat\w*|hell\s+yeah|yeah)\b",
    re.IGNORECASE,
)
# What an agent does all the time says nothing about what it did just now.
_EVERYWHERE = """this that these those them with your please just from into file files code make
    need have because there anything use the and for not any all our too yet run add put let get
    set its now"""
_ANYTHING = frozenset(_EVERYWHERE.split())
_NEAR = 40
_SHORT = 120

_PROMPT = re.compile(r"\s*(?:[\w.@~/:-]{0,60}[$#%❯➜>]\s|>>>\s|\+\s\S|PS\s+\S+>)")
_MACHINE = re.compile(
    r"\s*(?:Traceback\ \(|\w*(?:Error|Exception|Warning)\b[:\s(]|\[?\d{4}-\d\d-\d\d[T\s]\d\d:\d\d"
    r"|\[?(?:INFO|DEBUG|WARN|ERROR|FATAL)\b|error(?:\[\w+\])?:|fatal:|npm\ ERR|at\ \S+\ \("
    r"|no\ such\ file|\d+\s+(?:passed|failed)|diff\ --git|@@\ |commit\ [0-9a-f]{7,40}|```|<\w+)",
    re.VERBOSE,
)


def is_correction(text: str, *, asked: bool = False, did: Callable[[], str] | None = None) -> bool:
    """Whether a message begins by contradicting what was done.

    `asked` says that it answers a question. `did` gives what the agent said and did just before:
    "don't push" is an order for later, unless it was about to push.
    """
    head = text[:_LONGEST]
    first = _FIRST_WORD.match(head)
    if first is None or not _may_begin(first[1].lower()):
        return False
    if _KIND.match(head) or not _CORRECTION.match(head):
        return False
    if asked and _ANSWER.match(head):
        return False
    forbids = _FORBIDS.match(head)
    return forbids is None or did is None or _is_about(forbids[1], did())


def is_curse(text: str) -> bool:
    """Whether a message curses at the agent: a short one does, a long one if it is addressed."""
    head = text[:_LONGEST].lower()
    if not any(word in head for word in _CURSES):
        return False
    found = _CURSE.search(head)
    if found is None:
        return False
    around = text[max(0, found.start() - _NEAR) : found.end() + _NEAR]
    if _PLEASED.search(around):
        return False
    return len(text) <= _SHORT or _AT_SOMEBODY.search(around) is not None


def is_pasted(text: str) -> bool:
    """Whether a message is a terminal's or a program's output, and not the user's own words."""
    lines = [line for line in text[:_LONGEST].split("\n", 40) if line.strip()]
    if not lines:
        return False
    if _PROMPT.match(lines[0]) or _MACHINE.match(lines[0]):
        return True
    if len(lines) < 4:
        return False
    return sum(bool(_PROMPT.match(line) or _MACHINE.match(line)) for line in lines) * 3 > len(lines)


def asks(text: str) -> bool:
    """Whether the agent's words end by asking something, so that a no is an answer."""
    return "?" in text[-200:]


def _is_about(sentence: str, did: str) -> bool:
    """Whether any word of matter in a sentence stands in what the agent did, by its beginning."""
    done = did.lower()
    words = (word for word in _MATTER.findall(sentence.lower()) if word not in _ANYTHING)
    return any(word[:_STEM] in done for word in words)


def _may_begin(word: str) -> bool:
    return word in _BEGINNINGS or word.startswith("hmm")
