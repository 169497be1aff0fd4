"""One memory as another tool keeps it, before it has an id here, and how it becomes a memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from ltm.decisions import Copy, forgotten
from ltm.errors import WrongUsage
from ltm.kinds import Kinds
from ltm.model import Impact, Memory, Phase, Scope, Source, Status, Trust
from ltm.policy import text_in_phase
from ltm.redact.redact import redact
from ltm.text.display import one_line
from ltm.text.infer import auto_tags, infer_kind
from ltm.text.sentences import summary_of, title_of

_LONGEST_TITLE = 200


@dataclass(frozen=True, slots=True)
class Item:
    """What a source says of one memory; what it leaves open stays at its default."""

    text: str
    path: str
    """The file it stands in."""
    line: int = 0
    kind: str = ""
    """A kind's name or alias; '' to infer it from the text."""
    word: str = ""
    """The source's own word for what it is, to tell how it was mapped."""
    title: str = ""
    summary: str = ""
    legacy_id: str = ""
    """Its id in the source; '' when it has none."""
    created: datetime | None = None
    updated: datetime | None = None
    scope: Scope = Scope.PROJECT
    tags: tuple[str, ...] = ()
    impact: Impact = Impact.MEDIUM
    pinned: bool = False
    difficulty: float = 0.0
    confidence: float = 1.0
    observations: int = 1
    version: int = 1
    phase: Phase = Phase.FULL
    """How much of `text`, which is always the whole text, was left."""
    status: Status = Status.ACTIVE
    reason: str = ""
    state: str = ""
    session: str = ""
    uses: int = 0
    supersedes: tuple[str, ...] = ()
    """These and the following name memories by their ids in the source."""
    superseded_by: str = ""
    merged_from: tuple[str, ...] = ()
    previous: str = ""
    links: tuple[str, ...] = ()
    agent: str = ""
    """The agent it belongs to, if not the one that imports."""
    project: str = ""
    """The folder of the project it belongs to, if the source knows several."""
    project_name: str = ""

    @property
    def belongs_elsewhere(self) -> bool:
        return self.scope is Scope.PROJECT and bool(self.project or self.project_name)


def clean(item: Item) -> tuple[Item, bool]:
    """The item without secrets and without characters no file can keep; whether it had secrets."""
    had_secrets = False

    def safe(text: str) -> str:
        nonlocal had_secrets
        # No text file can keep NUL and halves of surrogate pairs.
        done = redact(text.replace("\0", "").encode("utf-8", "replace").decode())
        had_secrets = had_secrets or bool(done.kinds)
        return done.text

    cleaned = replace(
        item,
        text=safe(item.text).strip("\n"),
        title=one_line(safe(item.title)),
        summary=safe(item.summary).strip("\n"),
        reason=safe(item.reason),
        tags=tuple(dict.fromkeys(tag for each in item.tags if (tag := one_line(safe(each))))),
        legacy_id=one_line(safe(item.legacy_id)),
        session=one_line(safe(item.session)),
    )
    return cleaned, had_secrets


def born(item: Item, at: datetime) -> datetime:
    """When an item was made; nothing is newer than `at`, whatever the source says."""
    return min(item.created or at, at)


def as_copy(
    item: Item,
    memory_id: str,
    kinds: Kinds,
    source: str,
    at: datetime,
    ids: Mapping[str, str],
) -> Copy:
    """The memory an item is here, with its whole text if it had been shortened.

    `source` is the importer's name; `ids` are our ids for those of the source.
    """

    def ours(theirs: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(ids[each] for each in theirs if ids.get(each)))

    created = born(item, at)
    try:
        kind = kinds.parse(item.kind)
    except WrongUsage:
        kind = kinds[infer_kind(item.text, kinds, item.title)]
    title = item.title or title_of(item.text)
    whole = Memory(
        id=memory_id,
        kind=kind.name,
        title=title[:_LONGEST_TITLE].strip() or kind.heading,
        summary=item.summary or summary_of(item.text),
        content=item.text,
        created=created,
        updated=min(max(created, item.updated or created), at),
        confirmed=created,
        scope=item.scope,
        tags=item.tags or auto_tags(f"{title} {item.text}"),
        impact=item.impact,
        pinned=item.pinned,
        difficulty=_share(item.difficulty),
        # A kind that fades by itself does so from its dates; a share of that would fade it twice.
        confidence=1.0 if kind.fades_days else _share(item.confidence),
        observations=max(1, item.observations),
        version=max(1, item.version),
        supersedes=ours(item.supersedes),
        superseded_by=ids.get(item.superseded_by, ""),
        merged_from=ours(item.merged_from),
        previous=ids.get(item.previous, ""),
        links=ours(item.links),
        source=Source(Trust.IMPORT, session=item.session, tool=source),
        reason=item.reason,
        state=item.state or kind.first_state,
        legacy_id=item.legacy_id,
    )
    if item.status is Status.FORGOTTEN:
        return Copy(forgotten(whole, whole.updated), (whole,))
    memory = whole._replace(status=item.status)
    if item.phase is Phase.FULL:
        return Copy(memory)
    short = memory._replace(content=text_in_phase(whole.content, item.phase), phase=item.phase)
    return Copy(short, (whole,))


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))
