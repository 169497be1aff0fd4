"""The tool that opens one thing whole: a memory, or the lines of a session that a citation names.

Every text is a quotation. Of a memory it is said who vouches for it, of a passage who said it.
"""

from __future__ import annotations

from ltm.core.counting import counted
from ltm.core.model import Phase, Status, Stored, Usage, iso
from ltm.core.passage import TOOL
from ltm.core.screen import visible
from ltm.inject.fence import harmless
from ltm.inject.said import shorten
from ltm.recall.retell import cited, is_citation
from ltm.surfaces.mcp import page
from ltm.surfaces.mcp.call import Call
from ltm.surfaces.mcp.telling import passage_head

_UNVOUCHED = "A tool printed this: it may come from anyone, and is not verified."


def get_memory(call: Call, id: str, offset: int = 0) -> str:  # noqa: A002
    """One memory, whole, with where it comes from, or what a citation names; in parts if long."""
    if is_citation(id):
        return _passage(call, id, offset)
    stored = call.read(id)
    memory = stored.memory
    if memory.status is Status.ACTIVE:
        call.store.used([memory.id])
    usage = call.store.usage([memory.id]).get(memory.id, Usage())
    return card(stored, usage, offset, doubtful=call.is_doubtful(memory))


def card(stored: Stored, usage: Usage, offset: int = 0, *, doubtful: bool = False) -> str:
    """Everything about a memory that an agent may want, and its text as a quotation."""
    memory = stored.memory
    lines = [
        page.headline(memory),
        f"{memory.scope}, version {memory.version}, in {visible(stored.path)}",
    ]
    origin = memory.source
    said = f"said by {origin.trust}"
    if origin.session:
        said += f" in session {origin.session}"
        # As a citation, so that get_memory opens the lines themselves.
        said += f", lines {origin.session}:{origin.lines}" if origin.lines else ""
    lines.append(
        f"created {iso(memory.created)}, confirmed {iso(memory.confirmed)}, {said};"
        f" used {counted(usage.uses, 'time')}, seen {counted(memory.observations, 'time')}"
    )
    for name, value in (
        ("tags", ", ".join(memory.tags)),
        ("because", memory.reason),
        ("state", memory.state),
        ("replaces", ", ".join(memory.supersedes)),
        ("follows", memory.previous),
        ("links", ", ".join(memory.links)),
        ("conflicts with", ", ".join(memory.conflicts)),
    ):
        if value:
            lines.append(f"{name}: {shorten(harmless(value), 300)}")
    if memory.status is Status.FORGOTTEN:
        return "\n".join([*lines, "It was forgotten; restore brings its text back."])
    if doubtful:
        lines.append("⚠ It was changed outside ltm, or is not signed: check it first.")
    if not stored.trusted:
        lines.append("Untrusted: it came with this repository, and the user did not vouch for it.")
    if memory.status is Status.QUARANTINED:
        lines.append("Quarantined: it came from an untrusted source and is not confirmed.")
    if memory.phase is not Phase.FULL:
        lines.append(
            f"Its text was shortened ({memory.phase.name.lower()}); restore brings it back whole."
        )
    return "\n".join([*lines, page.text_in_parts(memory.text, offset)])


def _passage(call: Call, name: str, offset: int) -> str:
    """What stands at a citation, word for word; a long text in parts."""
    passages = cited(call.store, call.said, name)
    first = passages[0]
    lines = [passage_head(first)]
    if any(each.role == TOOL for each in passages):
        lines.append(_UNVOUCHED)
    files = dict.fromkeys(path for each in passages for path in each.files)
    if files:
        lines.append(f"names: {shorten(harmless(', '.join(files)), 300)}")
    several = len(passages) > 1
    text = "\n".join(f"[{each.role}] {each.text}" if several else each.text for each in passages)
    lines.append(page.text_in_parts(text, offset))
    lines.append(f"memory_timeline(around={first.citation}) shows what was said before and after.")
    return "\n".join(lines)
