"""Turning what somebody typed in a hurry into a sentence that stands by itself.

Owns what is speech and what is pasted (code, logs, quotations), where the small words around a
statement end, and where its reason begins. Pure; imports `core`.
"""

from __future__ import annotations

import re

from ltm.core.sentences import sentences

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_TAGGED = re.compile(r"<([a-z][\w-]*)\b[^>]*>.*?</\1>", re.DOTALL | re.IGNORECASE)
# Lines nobody types: of logs, stack traces, diffs, listings, prompts, quotations and tables.
_PASTED = re.compile(
    r"^\s*(?:>|\$ |# \w+ |\+\+\+|---|@@|diff |at \S+ ?\(|File \"|Traceback|\s{4,}\S|\|.*\|"
    r"|\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|(?:error|warning|warn|info|debug|fatal)\b[\[: ]"
    r"|[A-Z]\w*(?:Error|Exception)\b|\S+:\d+:\d+|npm ERR|\(\w+\) |[-+*=_]{5,}|\d+ \| )",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"\A(?:(?:ok(?:ay)?|so|well|hey|hi|yes|yeah|yep|no|nope|right|sure|great|good|nice|cool|perfect"
    r"|thanks|thank you|also|and|but|btw|by the way|oh|ah|hmm|please|pls|just|now|then|again"
    r"|actually|seriously|one more thing|another thing|important|note|fyi|reminder|remember"
    r"|i said|i told you|as i said|like i said|listen|look|claude)\b[\s,.:;!–—-]+)+",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"[\s,;–—-]*\b(?:please|pls|thanks|thank you|thx|ok(?:ay)?|alright|right|got it|understood"
    r"|cheers"
    r"|in (?:the )?future|from now on|going forward|next time)[\s!.?]*\Z",
    re.IGNORECASE,
)
_STANDING = re.compile(
    r"\A(?:from now on|going forward|from here on(?: out)?|in (?:the )?future|next time|as a rule"
    r"|for (?:the )?future(?: reference)?|for the record|for reference)[\s,:–—-]+",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+")
_REASON = re.compile(
    r"[\s,;–—-]+(?:because|since(?! (?:the|last|then|yesterday|\d))|given that|due to the fact that"
    r"|as otherwise|the reason (?:is|being)(?: that)?)\s+",
    re.IGNORECASE,
)


def spoken(text: str) -> list[str]:
    """The sentences of a message that its writer wrote, without what was pasted into it."""
    text = _TAGGED.sub("\n", _FENCE.sub("\n", text))
    found: list[str] = []
    paragraph: list[str] = []
    for line in [*text.split("\n"), ""]:
        bullet = _BULLET.match(line)
        if not line.strip() or bullet or _PASTED.match(line):
            found += sentences(" ".join(paragraph))
            paragraph = []
        if bullet:
            found += sentences(line[bullet.end() :])
        elif line.strip() and not _PASTED.match(line):
            paragraph.append(line.strip())
    return found


def is_long(text: str) -> bool:
    """Whether a message is so long that most of it is a document, not speech."""
    return len(text) > 1_500 or text.count("\n") > 25


def tidy(sentence: str) -> str:
    """A statement without greetings, fillers and thanks, as one sentence with a capital and a stop.

    "ok so from now on, always use pnpm please" becomes "Always use pnpm."
    """
    text = " ".join(sentence.split())
    former = ""
    while former != text:
        former = text
        text = _STANDING.sub("", _LEAD.sub("", text))
        text = _TAIL.sub("", text)
    text = text.strip(" ,;:–—-").rstrip("!.")
    if not text:
        return ""
    first = text.split()[0]
    if first.islower() and first.replace("'", "").replace("’", "").isalpha():
        text = text[0].upper() + text[1:]
    return text if text[-1] in "?…)`\"'" else f"{text}."


def with_reason(sentence: str) -> tuple[str, str]:
    """A statement and the reason given for it in the same sentence, if any."""
    parts = _REASON.split(sentence, maxsplit=1)
    return (parts[0], parts[1].strip(" .!")) if len(parts) == 2 else (sentence, "")
