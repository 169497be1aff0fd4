"""The text the next session is told about a store: selected, rendered, and never over its limits.

Owns the budget: what the fence costs, what each line costs, and the last check on the whole text.
Reads the store and never counts that as a use. Imports core, the store's port and this package, so
that a hook can afford it.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from ltm.core import policy
from ltm.core.kinds import Kinds
from ltm.core.model import Filter, Memory, Phase, Stored, Usage
from ltm.core.tokens import estimate
from ltm.inject.carried import carried
from ltm.inject.render import InjectionItem, body, find_format, frame
from ltm.inject.said import units
from ltm.inject.select import disputes, select

if TYPE_CHECKING:
    from ltm.storage.store import Store

MAX_CHARS = 9_800
"""Characters one injection may take: a client hides what is longer than 10,000."""

SHORT_TOKENS, SHORT_CHARS = 600, 2_400
"""The limits for a sub-agent, which has one task and little room."""

_WANTED = Filter(phases=(Phase.FULL, Phase.HINT, Phase.ABSTRACT))


class Injection(NamedTuple):
    """What is told, what it costs, and what was left out."""

    text: str = ""
    tokens: int = 0
    shown: tuple[str, ...] = ()
    left_out: int = 0


def compose(
    store: "Store",
    *,
    agent: str,
    project: str,
    now: datetime,
    sessions: int = 0,
    format: str = "dsl",  # noqa: A002 - the word of the option
    budget_tokens: int | None = None,
    max_chars: int = MAX_CHARS,
    claude_md_text: str = "",
    is_tampered: Callable[[Memory], bool] | None = None,
    notice: str = "",
) -> Injection:
    """The most important memories of a store as one text within both limits, fence included.

    `sessions` is how many the project has had, `claude_md_text` what the client loads by itself and
    so need not be told again, `notice` a line to be added in any case. The same store and
    arguments give the same text. A store with nothing to tell, or limits too small for the fence,
    give an empty one.
    """
    memories = store.list(_WANTED).items
    return composed(
        memories,
        store.usage(each.memory.id for each in memories) if memories else {},
        store.kinds,
        agent=agent,
        project=project,
        now=now,
        sessions=sessions,
        format=format,
        budget_tokens=sys.maxsize if budget_tokens is None else budget_tokens,
        max_chars=max_chars,
        claude_md_text=claude_md_text,
        is_tampered=is_tampered,
        notice=notice,
    )


def composed(
    memories: Sequence[Stored],
    usage: Mapping[str, Usage],
    kinds: Kinds,
    *,
    agent: str,
    project: str,
    now: datetime,
    sessions: int,
    format: str,  # noqa: A002 - the word of the option
    budget_tokens: int,
    max_chars: int,
    claude_md_text: str,
    is_tampered: Callable[[Memory], bool] | None,
    notice: str = "",
) -> Injection:
    """The same from memories already read; pure."""
    style = find_format(format)
    lines: dict[str, str] = {}
    groups = disputes(memories)
    told_with = {each.memory.id for group in groups.values() for each in group[1:]}

    def line(stored: Stored) -> str:
        memory = stored.memory
        if memory.id not in lines:
            kind = kinds[memory.kind]
            tampered = is_tampered is not None and is_tampered(memory)
            rivals = tuple(each.memory for each in groups.get(memory.id, ()))
            item = InjectionItem(
                memory, kind, policy.confidence(memory, kind, now), tampered, rivals
            )
            lines[memory.id] = style.line(item)
        return lines[memory.id]

    def written(stored: Stored, first: bool) -> str:
        heading = style.heading(kinds[stored.memory.kind]) if first else ""
        return f"{heading}\n{line(stored)}\n" if heading else f"{line(stored)}\n"

    def text_of(shown: Sequence[Stored], left_out: int) -> str:
        told = [(kinds[each.memory.kind], line(each)) for each in shown]
        return frame(body(told, style, kinds), agent, project, left_out, notice)

    around = text_of((), len(memories))
    selection = select(
        memories,
        usage,
        kinds=kinds,
        now=now,
        sessions=sessions,
        budget_tokens=budget_tokens - estimate(around),
        max_chars=max_chars - units(around) - 1,
        written=written,
        already_shown=carried(claude_md_text, memories, kinds) | told_with,
    )
    shown, left_out = list(selection.shown), len(selection.left_out)
    ids = {each.memory.id for each in shown}
    left_out += sum(len(group) - 1 for name, group in groups.items() if name not in ids)
    while shown or left_out or notice:
        text = text_of(shown, left_out)
        tokens = estimate(text)
        if tokens <= budget_tokens and units(text) <= max_chars:
            names = [one.memory.id for each in shown for one in groups.get(each.memory.id, (each,))]
            return Injection(text, tokens, tuple(names), left_out)
        if not shown:
            break
        # An estimate of a whole is not quite the sum of its parts: give up the least important.
        left_out += len(groups.get(shown.pop().memory.id, (None,)))
    return Injection(left_out=left_out)
