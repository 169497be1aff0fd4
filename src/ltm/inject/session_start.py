"""The text a session is told at its start: selected, rendered, and never over its limits.

`tell` composes it with a project's own settings, for hooks, `ltm inject` and the demo alike; the
same memories, notes, files and settings give the same text. Reading is not a use of a memory: the
drain notes what was told. Hooks run this.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from ltm import policy
from ltm.files.atomic import is_inside
from ltm.inject.instruction_files import carried, loaded_text
from ltm.inject.render import (
    LEGEND,
    Frame,
    InjectionItem,
    find_format,
    harmless,
    offer_lines,
    shorten,
    units,
)
from ltm.inject.select import (
    PARTS,
    Pick,
    Selection,
    StartSection,
    Touching,
    disputes,
    said_at,
    select,
    shares_of,
    showable,
)
from ltm.kinds import Kind, Kinds
from ltm.model import Filter, Memory, Phase, Status, Stored, Usage
from ltm.notes import recent
from ltm.notes.recent import RecentWork, recent_work
from ltm.notes.stash import MANY, Stashes
from ltm.project import git
from ltm.project.home import instruction_names, loads_agents_md
from ltm.record import NamedTuple
from ltm.state.candidates import Candidates
from ltm.store.other_tools import foreign
from ltm.store.trust import waiting
from ltm.text.display import counted, estimate
from ltm.text.sentences import letters
from ltm.vault import key_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ltm.config.config import Config
    from ltm.project.layout import Places
    from ltm.store.store import Store

MAX_CHARS = 9_800
"""Characters one injection may take: a client hides what is longer than 10,000."""

SHORT_TOKENS, SHORT_CHARS = 600, 2_400
"""The limits for a sub-agent, which has one task and little room."""

HEADINGS = {
    StartSection.RULES: "## Rules: what the user asked for",
    StartSection.WORK: "## Where the last session stopped",
    StartSection.RECENT: "## About the files and branches of the last days",
    StartSection.REST: "## Also known",
}

_WANTED = Filter(phases=(Phase.FULL, Phase.HINT, Phase.ABSTRACT), teams=True)
_PATH = re.compile(r"(?<![\w./\\@:~-])(?:[\w.-]+/)+[\w-][\w.-]*\.[A-Za-z]\w{0,4}(?![\w/])")
_LINE = 300
_ALL = 200  # memories that are all read
_LEAST, _SHORT_LINE = 40, 65  # characters of a short line: few memories have less


class StartContext(NamedTuple):
    """Everything a session-start text depends on, but for the memories and their use."""

    agent: str
    project: str
    now: datetime
    format: str = "dsl"
    budget_tokens: int = sys.maxsize
    max_chars: int = MAX_CHARS
    memories: int = 0
    """How many are told at the most; 0 means as many as fit."""
    claude_md_text: str = ""
    """What the client loads by itself, and so need not be told again."""
    is_tampered: Callable[[Memory], bool] | None = None
    is_gone: Callable[[str], bool] | None = None
    """Whether a file was in the project, as far as its path can say, and is not there now."""
    notice: str = ""
    """A line to be added in any case."""
    offers: Sequence[str] = ()
    """Lines behind the memories, where a quarter of the limits has room for them."""
    work: RecentWork = RecentWork()

    def item(self, memory: Memory, kind: Kind, rivals: Sequence[Memory] = ()) -> InjectionItem:
        """A memory with what is known about it now."""
        days = (self.now - max(memory.created, memory.confirmed)).days
        gone: tuple[str, ...] = ()
        if self.is_gone is not None and "/" in memory.text:
            # No path has a blank in it, and most words no slash.
            words = (word for word in memory.text.split() if "/" in word)
            named = dict.fromkeys(path for word in words for path in _PATH.findall(word))
            gone = tuple(path for path in named if self.is_gone(path))
        return InjectionItem(
            memory,
            kind,
            policy.confidence(memory, kind, self.now),
            self.is_tampered is not None and self.is_tampered(memory),
            tuple(rivals),
            0 <= kind.dated_after <= days,
            gone[:2],
        )


class InjectedLine(NamedTuple):
    """A line of the text, and why it is there."""

    text: str
    reason: str
    tokens: int
    ids: tuple[str, ...] = ()
    """The memories it is about."""


class Injection(NamedTuple):
    """What is told, what it costs, and what was left out."""

    text: str = ""
    tokens: int = 0
    shown: tuple[str, ...] = ()
    left_out: int = 0
    lines: tuple[InjectedLine, ...] = ()
    message: str = ""
    """What a person is shown of it."""
    passed: tuple[Stored, ...] = ()
    """Of those left out, the ones that were weighed against what is told."""
    carried: tuple[Stored, ...] = ()
    """The ones that the client loads by itself, from its own files."""


def compose(store: Store, context: StartContext) -> Injection:
    """The text about a store's memories within both limits, fence included.

    A store with nothing to tell, or limits too small for the fence, give an empty one.
    """
    memories, others = _choice(store, context)
    used = store.usage(each.memory.id for each in memories) if memories else {}
    return composed(memories, used, store.kinds, context, others)


def _choice(store: Store, context: StartContext) -> tuple[Sequence[Stored], int]:
    """The memories to choose from, and how many others are in force.

    All of them as a rule. Of many, so many that the text is filled twice over: those worth most.
    """
    counts: dict[str, int] = {}
    for kind, _, status, phase, count in getattr(store, "counts_with_teams", store.counts)():
        if status == Status.ACTIVE and phase < Phase.ARCHIVED:
            counts[kind] = counts.get(kind, 0) + count
    most = max(_LEAST, min(context.max_chars, context.budget_tokens * 4) // _SHORT_LINE)
    worthiest = getattr(store, "worthiest", None)
    if worthiest is None or sum(counts.values()) <= max(_ALL, most):
        return store.list(_WANTED).items, 0
    names: list[str] = []
    if touched := Touching(context.work).names():
        from ltm.text.terms import terms  # not needed for most

        names = [word for name in touched for word in terms(name)[:1]]
    found = worthiest(shares_of(counts, store.kinds, most), context.now, names)
    return found, max(0, sum(counts.values()) - len(found))


def composed(
    memories: Sequence[Stored],
    usage: Mapping[str, Usage],
    kinds: Kinds,
    context: StartContext,
    others: int = 0,
) -> Injection:
    """The same from memories already read; so many others can be asked for."""
    most_tokens, most_chars = context.budget_tokens, context.max_chars
    block = "\n".join(context.offers)
    crowded = 4 * estimate(block) > most_tokens or 4 * units(block) > most_chars
    offers = () if crowded else tuple(context.offers)
    style = find_format(context.format)
    frame = Frame(context.agent, context.project, context.notice)
    groups = disputes(memories)
    lines: dict[str, tuple[str, set[str]]] = {}
    stopped = _stopped(memories, kinds, context)

    def written(pick: Pick) -> tuple[str, str]:
        memory = pick.stored.memory
        if memory.id not in lines:
            rivals = [each.memory for each in groups.get(memory.id, ())]
            item = context.item(memory, kinds[memory.kind], rivals)
            said = item.said
            lines[memory.id] = style.line(item, said), item.marks(said)
        heading = HEADINGS[pick.section]
        if pick.section is StartSection.REST and style.by_kind:
            heading = f"## {harmless(kinds[memory.kind].heading)}"
        elif pick.section is StartSection.WORK and stopped:
            heading = stopped[0]
        return heading, lines[memory.id][0]

    def told(shown: Sequence[Pick]) -> list[InjectedLine]:
        """The lines between the introduction and the closing mark."""
        found: list[InjectedLine] = []
        begun = ""
        notes = [InjectedLine(each, "the last session's note", 0) for each in stopped]
        notes[:1] = [each._replace(reason="") for each in notes[:1]]
        is_alone = all(pick.section is StartSection.REST for pick in shown) and not notes
        for pick in shown:
            if notes and pick.section > StartSection.RULES:
                found, notes, begun = [*found, *notes], [], stopped[0]
            heading, line = written(pick)
            if heading != begun and not (is_alone and heading == HEADINGS[StartSection.REST]):
                found.append(InjectedLine(heading, "", 0))
            begun = heading
            memory = pick.stored.memory
            ids = tuple(each.memory.id for each in groups.get(memory.id, (pick.stored,)))
            found.append(InjectedLine(line, pick.reason, 0, ids))
        found += [*notes, *(InjectedLine(each, "unconfirmed", 0) for each in offers)]
        return found

    def text_of(shown: Sequence[Pick], left_out: int) -> str:
        marks = {mark for pick in shown for mark in lines[pick.stored.memory.id][1]}
        rules = any(pick.section is StartSection.RULES for pick in shown)
        more = 0 if is_tight and shown else left_out
        return frame.around([each.text for each in told(shown)], more, marks, rules=rules)

    longest = [*stopped, *offers]
    told_with = {each.memory.id for group in groups.values() for each in group[1:]}
    own = carried(context.claude_md_text, memories, kinds)
    known = own | told_with
    by_itself = tuple(each for each in memories if each.memory.id in own) if own else ()

    def within(around: str) -> Selection:
        return select(
            memories,
            usage,
            kinds=kinds,
            now=context.now,
            budget_tokens=most_tokens - estimate(around),
            max_chars=most_chars - units(around) - 1,
            most=context.memories,
            written=written,
            work=context.work,
            already_shown=known,
        )

    selection = within(frame.around(longest, len(memories) + others, LEGEND, rules=True))
    is_tight = False
    if not selection.shown:  # then a memory is worth more than how many others there are
        selection = within(frame.around(longest, 0, (), rules=False))
        is_tight = bool(selection.shown)
    shown, left_out = list(selection.shown), len(selection.left_out) + others
    passed = sorted(selection.left_out, key=lambda each: said_at(each.memory), reverse=True)
    ids = {each.stored.memory.id for each in shown}
    left_out += sum(len(group) - 1 for name, group in groups.items() if name not in ids)
    while shown or left_out or context.notice or longest:
        text = text_of(shown, left_out)
        tokens = estimate(text)
        if tokens <= most_tokens and units(text) <= most_chars:
            final = [each._replace(tokens=estimate(f"{each.text}\n")) for each in told(shown)]
            names = tuple(name for each in final for name in each.ids)
            return Injection(
                text, tokens, names, left_out, tuple(final), "", tuple(passed), by_itself
            )
        if not shown and not stopped:
            break
        if shown:
            # An estimate of a whole is not quite the sum of its parts: give up the least important.
            last = shown.pop().stored
            passed.insert(0, last)
            left_out += len(groups.get(last.memory.id, (None,)))
        else:
            stopped = []
    return Injection(left_out=left_out, passed=tuple(passed), carried=by_itself)


def _stopped(memories: Sequence[Stored], kinds: Kinds, context: StartContext) -> list[str]:
    """The lines about where the last sessions stopped, without what a memory says about it."""
    if not context.work.latest:
        return []
    names = {kind.name for kind in kinds if kind.single}
    single = [each for each in memories if each.memory.kind in names]
    known = "".join(letters(each.memory.text) for each in showable(single, kinds, context.now))
    lines: list[str] = []
    for number, summary in enumerate(context.work.latest):
        said = [
            shorten(harmless(each), _LINE)
            for each in summary.lines
            if letters(each.partition(": ")[2] or each) not in known
        ]
        if not said:
            continue
        on = f", branch {harmless(summary.branch)}" if summary.branch else ""
        if not number:
            lines.append(f"{HEADINGS[StartSection.WORK]} ({summary.began:%Y-%m-%d}{on})")
            lines += [f"- {each}" for each in said]
        elif lines:
            lines.append(f"- On this branch, {summary.began:%Y-%m-%d}: {' '.join(said)}")
    part = PARTS[StartSection.WORK]
    while lines and (
        units("\n".join(lines)) > part * context.max_chars
        or estimate("\n".join(lines)) > part * context.budget_tokens
    ):
        lines.pop()
    return lines if len(lines) > 1 else []


def tell(
    store: Store,
    places: Places,
    config: Config,
    now: datetime,
    *,
    style: str | None = None,
    budget: int | None = None,
    short: bool = False,
    files: dict[str, bool] | None = None,
    agents_md: bool | None = None,
    names: tuple[str, ...] | None = None,
) -> Injection:
    """The text for a session's start; `short` is for a sub-agent.

    Into `files` goes every file that was looked for, and whether it was there. `agents_md` and
    `names` are as for `loaded_text`, where it is not for the client this process belongs to.
    """
    percent = config.get("inject.budget_percent") / 100
    tokens = int(config.get("inject.context_window") * percent) if budget is None else budget
    chars = config.get("inject.max_chars")
    candidates = Candidates(places.private)
    offers = candidates.offers(config.get("capture.offer")) if not short else ()
    due = Undecided((), (), 0) if short else undecided(store, places)
    context = context_of(places, config, now, files, agents_md, names)._replace(
        budget_tokens=min(tokens, SHORT_TOKENS) if short else tokens,
        max_chars=min(chars, SHORT_CHARS) if short else chars,
        notice=due.notice,
        offers=offer_lines(list(offers)),
        work=RecentWork() if short else work_in(places, now),
    )
    told = compose(store, context._replace(format=style or context.format))
    if short or not config.get("inject.message"):
        return told
    count = len(candidates.waiting())
    return told._replace(message=due.message(len(told.shown), places.project.name, count))


def context_of(
    places: Places,
    config: Config,
    now: datetime,
    files: dict[str, bool] | None = None,
    agents_md: bool | None = None,
    names: tuple[str, ...] | None = None,
) -> StartContext:
    """What a project's settings and files say about any text for its sessions."""
    root = places.project.root

    def is_gone(path: str) -> bool:
        path = path.removeprefix("./")
        full = os.path.join(root, path)
        top = os.path.join(root, path.partition("/")[0])
        there = {each: os.path.lexists(each) for each in (full, top)}
        if files is not None:
            files.update(there)
        return there[top] and not there[full]

    return StartContext(
        places.agent,
        places.project.name,
        now,
        format=config.get("inject.format"),
        memories=config.get("inject.memories"),
        claude_md_text=loaded_text(
            root,
            client_folder(),
            agents_md=loads_agents_md() if agents_md is None else agents_md,
            names=instruction_names() if names is None else names,
        ),
        is_tampered=doubt(places),
        is_gone=is_gone,
    )


def work_in(places: Places, now: datetime) -> RecentWork:
    """The work of the last days in a project, from its session notes and git's own files."""
    since = (now - timedelta(days=recent.DAYS)).timestamp()
    return recent_work(places.private, git.recent_branches(places.project.root, since), now)


def watched(places: Places, now: datetime) -> list[str]:
    """The files that have a say in `work_in`."""
    head = git.head_file(places.project.root)
    return [*recent.watched(places.private, now), *([head] if head else [])]


def doubt(places: Places) -> Callable[[Memory], bool] | None:
    """Whether a memory is not as it was signed; None without a key."""
    key = key_file.load(places.home, places.agent)
    return None if key is None else key.is_doubtful


def disputes_in(store: Store) -> dict[str, list[Stored]]:
    """The groups in conflict among all memories of a store, few of the others held at a time."""
    return disputes(each for each in store.every(Filter()) if each.memory.conflicts)


class Undecided(NamedTuple):
    """What waits for the user, each with the command for it."""

    kept_back: Sequence[tuple[str, str]]
    """Memories that no session is told until then."""
    other_tools: Sequence[tuple[str, str]]
    """Where other tools keep memories."""
    stashes: int
    """None unless there are many."""

    @property
    def notice(self) -> str:
        """The line a session is told, or nothing."""
        parts = [f"{what} ({command})" for what, command in self.kept_back]
        said = [f"Not told until the user decides: {', '.join(parts)}."] if parts else []
        if self.other_tools:
            offers = "; ".join(f"{where} ({command})" for where, command in self.other_tools)
            said.append(f"Memories of other tools, left alone until the user decides: {offers}.")
        if self.stashes:
            said.append(f"{self.stashes} stashes wait to be remembered ({_REMEMBER}).")
        return " ".join(said)

    def message(self, told: int, project: str, candidates: int) -> str:
        """The line a person is shown: how many memories a session was told, and what waits.

        Commands are named as in a terminal; the hook of a plugin gives them the plugin's names.
        """
        rows = [*self.kept_back]
        rows += [
            (f"memories of another tool in {where}", which) for where, which in self.other_tools
        ]
        if self.stashes:
            rows.append((f"{self.stashes} stashes", _REMEMBER))
        if candidates:
            rows.append((counted(candidates, "unconfirmed statement"), "ltm review"))
        said = f"LTM: {counted(told, 'memory')} told"
        if not told:
            said = f"LTM: no memories of {project} yet"
        waits = ", ".join(f"{what} ({command})" for what, command in rows)
        return harmless(f"{said}. Waiting for you: {waits}" if rows else said)


_REMEMBER = "ltm consolidate --all"


def undecided(store: Store, places: Places) -> Undecided:
    """What waits for the user in a project."""
    root = places.project.root
    quarantined, untrusted = waiting(store, places)
    kept_back = []
    if quarantined:
        kept_back.append((f"{counted(quarantined, 'memory')} to approve", "ltm approve"))
    if untrusted:
        kept_back.append(
            (f"{counted(untrusted, 'memory')} that came with this repository", "ltm trust")
        )
    kept_back += [
        (f"memories of the team {each.name}", f"ltm trust team:{each.name}")
        for each in places.teams
        if each.trusted is None
    ]
    if places.untrusted_agent:
        kept_back.append(("memories of the agent that files of this repository name", "ltm trust"))
    if places.project.claimed:
        kept_back.append(
            ("memories of the project this folder says to be", "ltm trust --same-project")
        )
    offered: dict[str, list[str]] = {}
    for each in foreign(places):
        if each.is_new and not each.of_all and not (each.told and store.counts()):
            line = f" line {each.line}" if each.line else ""
            where = offered.setdefault(_shown(each.source, root), [])
            where.append(f"{_shown(each.path, root)}{line}")
    others: list[tuple[str, str]] = []
    if offered:
        from shlex import quote  # not needed for most

        others = [(", ".join(of), f"ltm import {quote(name)}") for name, of in offered.items()]
    stashes = Stashes(places.project.root, places.private).waiting()
    return Undecided(kept_back, others, stashes if stashes >= MANY else 0)


def _shown(path: str, root: str) -> str:
    return os.path.relpath(path, root) if is_inside(path, root) else path


def client_folder() -> str:
    """The client's own configuration folder, or nothing when there is no home."""
    from ltm.project.home import client_folder as folder_in

    return folder_in(os.environ)
