"""What a person typed, separated from what a client or LTM added to the text.

Clients wrap what they add in blocks with names of several words (`<hook_context>`), LTM in `[LTM:…]
… [/LTM]`: given to the session, not the user's word. A block reaches to its last end, so that a
text inside cannot end it early.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from ltm.sessions.turns import Aside, Summary, Turn, TurnPlace, UserText

_OURS = re.compile(r"\[LTM:[^\]\n]*\]")
_OURS_END = "[/LTM]"
_OPENING = re.compile(r"<([A-Za-z][A-Za-z0-9]*[-_:][\w:-]*)(?:\s[^<>]{0,2000})?>")
_BLOCKS = 100
_SUMMARIES = ("<state_snapshot>", "This session is being continued from a previous conversation")


def user_turns(
    texts: Iterable[str], place: TurnPlace, *, within: str = "", queued: bool = False
) -> Iterator[Turn]:
    """The turns of a message in the user's name: the user's own words, and what was put in.

    `within` names the tag around what was typed, for clients that mark it: all else was put in,
    and so is a message without it.
    In a sub-agent's transcript the user is the agent that called it.
    """
    own: list[str] = []
    inserted: list[str] = []
    for text in texts:
        typed, others = _typed(text, within)
        inserted += others
        if typed.lstrip().startswith(_SUMMARIES):
            yield Summary(*place, text=typed)
            continue
        said, blocks = _apart(typed)
        inserted += blocks
        if said:
            own.append(said)
    if inserted:
        yield Aside(*place, what="reminder", text="\n".join(inserted))
    if own and place[-1]:
        yield Aside(*place, what="agent", text="\n".join(own))
    elif own:
        yield UserText(*place, text="\n".join(own), queued=queued)


def moment(milliseconds: object) -> str:
    """A time in milliseconds since 1970 as transcripts write it; '' for what is none."""
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return ""
    try:
        at = datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return ""
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"


def _typed(text: str, within: str) -> tuple[str, list[str]]:
    """What stands in the tag that a client puts around what was typed, and what stands outside."""
    if not within:
        return text, []
    opening = re.search(rf"<{within}(?:\s[^<>]{{0,200}})?>", text)
    if opening is None:
        return "", [text]
    end = text.rfind(f"</{within}>")
    if end < opening.end():
        end = len(text)
    outside = [text[: opening.start()].strip(), text[end:].removeprefix(f"</{within}>").strip()]
    return text[opening.end() : end], [each for each in outside if each]


def _apart(text: str) -> tuple[str, list[str]]:
    blocks: list[str] = []
    for _ in range(_BLOCKS):
        ours = _OURS.search(text)
        if ours is not None:
            begin, end = ours.start(), text.rfind(_OURS_END)
            # Our block may have been cut off: what follows may be all of it.
            end = len(text) if end < begin else end + len(_OURS_END)
        else:
            found = next(_closed(text), None)
            if found is None and _OPENING.match(text.lstrip()):
                return "", [*blocks, text]  # it begins with a block that was cut off
            if found is None:
                return text.strip(), blocks
            begin, end = found
        blocks.append(text[begin:end])
        text = text[:begin] + "\n" + text[end:]
    return "", [*blocks, text]  # so many blocks are no person's message


def _closed(text: str) -> Iterator[tuple[int, int]]:
    """Where a block begins and ends; of a hundred openings the first that has an end."""
    seen: set[str] = set()
    for opening in _OPENING.finditer(text):
        name = opening[1]
        if name in seen:
            continue
        if len(seen) >= _BLOCKS:
            return
        seen.add(name)
        end = text.rfind(f"</{name}>")
        if end >= opening.end():
            yield opening.start(), end + len(name) + 3
