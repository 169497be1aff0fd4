"""What of a message its writer said, sentence by sentence, and what was only pasted into it.

Logs, code, quotations, tables, and documents handed over to be worked on are no speech: whatever
they order or claim, it is not the writer who does. Pure; imports `core`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ltm.core.sentences import sentences

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_TAG = re.compile(r"<([A-Za-z][\w-]{0,40})\b[^<>]{0,400}>")
# Lines nobody types: of logs, stack traces, diffs, listings, prompts, quotations and tables.
_PASTED = re.compile(
    r"\s*(?:>|\$ |# \w+ |\+\+\+|---|@@|diff -|at \S+ ?\(|File \"|Traceback|\t\S|\|.*\|"
    r"|\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|\d\d/\d\d/\d\d\b|\[\w+\] "
    r"|(?:error|warning|warn|info|debug|fatal(?: error)?|note)(?:\[\w+\])?: ?\S+[:(]"
    r"|(?:error|warning|warn|fatal|E) {2,}|WARN\[|(?-i:(?:ERROR|FATAL|INFO|WARN|DEBUG)\b)"
    r"|(?-i:[A-Z])\w*(?:Error|Exception)\b|\w+(?:\.\w+)+(?:Error|Exception)\b"
    r"|\S+:\d+:\d+|npm (?:ERR|error)|\(\w+\) |[-+*=_]{5,}|\d+ \| |[\w-]+\s+\| )",
    re.IGNORECASE,
)
_HEADING = re.compile(r"#{1,6}\s+\S")
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)])\s+")
_OWN_RULES = re.compile(
    r"\b(?:rules?|conventions?|preferences?|guidelines?|standards?|remember|keep in mind|note"
    r"|from now on|house style|style|principles?|always|things|notes|remarks|reminders?|feedback"
    r"|you should know|we decided"
    r"|decisions?|facts?|how (?:we|i) (?:work|do))\b",
    re.IGNORECASE,
)
_MATERIAL = re.compile(
    r"\b(?:translate|implement|review|summari[sz]e|convert|rewrite|proofread|explain|parse|format"
    r"|fix|check|this (?:ticket|issue|spec|file|text|error|log|message|task|prompt|readme)"
    r"|what does|here(?:'s| is| are)|the (?:docs?|manual|readme|ticket|spec|error|log)\b.*\bsays?)",
    re.IGNORECASE,
)
_REWORKED = re.compile(
    r"\b(?:translate|rewrite|rephrase|reword|proofread|summari[sz]e|shorten|simplify|convert"
    r"|correct)\b",
    re.IGNORECASE,
)
# The same in one line: what follows the colon is not the writer's.
_GIVEN = re.compile(
    r"\s*[^:.!?]{0,60}\b(?:translate|rewrite|rephrase|reword|proofread|summari[sz]e|shorten|simplify"
    r"|(?:answer|reply to|correct) (?:this|that|the|my|his|her|their)|version of|(?:message|error"
    r"|output|answer|reply|mail|comment|ticket) (?:is|was|says?|said|reads))\b[^:.!?]{0,40}:\s",
    re.IGNORECASE,
)
_ANOTHER = re.compile(
    r"\b(?:next|this|another|last|second|third) (?:one|paragraph|text)\W*\Z", re.I
)
_QUOTATION = re.compile(r"[\"“„«](?<![^\s(:].)(?=\S)[^\"“”„«»]{2,8000}+[\"”“»](?![^\s).,;:!?])")
_SENTENCES = re.compile(r"[.!?…]\s")
_LONG_LINE = 60
_GLANCE = 200


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence of a message."""

    text: str
    listed: bool = False
    """Whether it is an item of a list that is not said to hold rules: most likely a task."""
    ruled: bool = False
    """Whether it is an item of a list that is said to hold rules."""
    lead: str = ""
    """The line above the list it is an item of."""


@lru_cache(maxsize=4)
def said(text: str) -> tuple[Said, ...]:
    """The sentences of a message that its writer wrote, without what was pasted into it."""
    own = _without_tagged(_FENCE.sub("\n\n", text))
    lines = _QUOTATION.sub(_without_quoted, own).split("\n")
    heading = next((n for n, line in enumerate(lines) if _HEADING.match(line)), len(lines))
    found: list[Said] = []
    lead = ""
    for block in _blocks(lines[:heading]):
        if _is_material(lead, block):
            continue
        found += _of_block(block, lead)
        lead = block[-1].strip() if not _BULLET.match(block[-1]) else lead
    return tuple(found)


@lru_cache(maxsize=4)
def told(text: str) -> tuple[Said, ...]:
    """The sentences of a report as agents write them: also below headings and in lists."""
    found: list[Said] = []
    lead = ""
    block: list[str] = []
    for line in [*_without_tagged(_FENCE.sub("\n\n", text)).split("\n"), ""]:
        heading = _HEADING.match(line)
        if line.strip() and not heading:
            block.append(line)
            continue
        for each in _blocks(block):
            found += _of_block(each, lead, report=True)
            lead = each[-1].strip() if not _BULLET.match(each[-1]) else lead
        block = []
        lead = line if heading else lead
    return tuple(found)


def _without_quoted(quotation: re.Match[str]) -> str:
    """Nothing where several sentences are quoted: they would be cut apart, and lose their marks."""
    return "\n\n" if _SENTENCES.search(quotation[0]) else quotation[0]


def _without_tagged(text: str) -> str:
    """A text without what stands between `<tag>` and `</tag>`, in one pass."""
    kept: list[str] = []
    place = 0
    unclosed: set[str] = set()
    for tag in _TAG.finditer(text):
        closing = f"</{tag[1]}>"
        if tag.start() < place or closing in unclosed:
            continue
        end = text.find(closing, tag.end())
        if end < 0:
            unclosed.add(closing)
            continue
        kept += [text[place : tag.start()], "\n"]
        place = end + len(closing)
    return "".join(kept) + text[place:]


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Lines between blank ones, up to the first in each that was pasted."""
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line)
        elif block:
            typed = next(
                (n for n, each in enumerate(block) if _is_pasted(each[:_GLANCE])), len(block)
            )
            if typed:
                yield block[:typed]
            block = []


def _is_pasted(line: str) -> bool:
    return bool(_PASTED.match(line) or (": " in line and _GIVEN.match(line)))


def _of_block(block: list[str], lead: str, *, report: bool = False) -> Iterator[Said]:
    """The sentences of one block; `lead` is the last line of the block before."""
    paragraph: list[str] = []
    material = False
    for line in block:
        bullet = _BULLET.match(line)
        if bullet:
            yield from _joined(paragraph)
            lead = paragraph[-1] if paragraph else lead
            paragraph = []
            material = material or (not report and _hands_over(lead))
            if not material:
                ruled = bool(_OWN_RULES.search(lead))
                for sentence in sentences(line[bullet.end() :]):
                    yield Said(sentence, not ruled, ruled, lead)
        elif not material:
            paragraph.append(line.strip())
    yield from _joined(paragraph)


def _is_material(lead: str, block: list[str]) -> bool:
    """Whether a block is what the line before it hands over, even if it is a single line."""
    if not _hands_over(lead):
        return lead.rstrip().endswith(":") and bool(_ANOTHER.search(lead))
    return len(block) > 1 or bool(_REWORKED.search(lead))


def _hands_over(lead: str) -> bool:
    """Whether a line hands something over: "Translate this:", and there it follows."""
    return lead.rstrip().endswith(":") and bool(_MATERIAL.search(lead))


def _joined(lines: list[str]) -> Iterator[Said]:
    """Lines as sentences: a line that was broken for its length goes on in the next."""
    whole: list[str] = []
    for line in lines:
        if whole and not (len(whole[-1]) >= _LONG_LINE and line[:1].islower()):
            yield from map(Said, sentences(" ".join(whole)))
            whole = []
        whole.append(line)
    yield from map(Said, sentences(" ".join(whole)))
