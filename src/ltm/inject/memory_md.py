"""MEMORY.md and the block in CLAUDE.md or AGENTS.md: their text, their caps, and writing them.

Both depend on nothing but the memories and the day: no counters, no usage, no date of writing. So
the same memories give the same bytes on every machine, and two branches disagree about few lines.
What LTM did not write is replaced only when a person says so; what was typed into something LTM
wrote is replaced as its first line announces. A copy of either is kept in `former/` of the
project's private folder, and goes only by purge; `views.json` there has a fingerprint of each view
as LTM last wrote it.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from ltm import policy
from ltm.errors import Conflict, LtmError
from ltm.files import block as markers
from ltm.files.atomic import is_inside, make_folder, read_plain, write_file
from ltm.files.block import END, MEMORY_MD, NOTE, START, TARGETS
from ltm.files.fastjson import read_object, write
from ltm.inject.instruction_files import TAGGED, in_one_line, is_current, under_each_other
from ltm.inject.render import FULL, harmless_in_file, say, say_disputed, short_id, shorten
from ltm.inject.select import disputes, newest_first, showable
from ltm.kinds import Kind, Kinds
from ltm.model import Filter, Memory, Problem, Stored, Trust
from ltm.store.other_tools import foreign_block, foreign_memory_md
from ltm.store.store import Store
from ltm.vault.vault import Vault, etag


def share_out(needs: Sequence[int], weights: Sequence[int], room: int, opening: int) -> list[int]:
    """How many lines each section gets, so that all fit into `room`.

    A section that gets any also takes `opening` lines for its heading. Line by line, the section
    furthest below its weight is served: so each has its share before any has more, what one does
    not need goes to those that want more than theirs, and if the room is smaller than all shares
    together, every share shrinks alike. A section without weight gets nothing.
    """
    given = [0] * len(needs)
    while True:
        hungry = [
            place
            for place, need in enumerate(needs)
            if weights[place] > 0
            and given[place] < need
            and (1 if given[place] else 1 + opening) <= room
        ]
        if not hungry:
            return given
        # Ties go to the first, which keeps the result the same every time.
        place = min(hungry, key=lambda each: given[each] / weights[each])
        room -= 1 if given[place] else 1 + opening
        given[place] += 1


MAX_LINES = 150
"""Lines of the block, marks, headings and footer included."""

MEMORY_LINES = 200
MEMORY_CHARS = 25_000
"""The most of a MEMORY.md that a client loads; what is beyond would be cut off unseen."""

LINE = 120
"""Characters of a line in the block."""

TITLE = "## Project memory"
FOOTER = "_More: the recall tool or `ltm recall WORDS`. One in full: get_memory or `ltm show ID`._"
_OPENING = 2  # a blank line and the heading


@dataclass(frozen=True, slots=True)
class KindSection:
    """The memories of one kind that may be shown, the most important first."""

    kind: Kind
    memories: Sequence[Memory]
    rivals: Mapping[str, Sequence[Memory]] = field(default_factory=dict)
    """Of a memory in conflict, it and the others, newest first, by its id."""

    @property
    def heading(self) -> str:
        """The kind's heading."""
        return harmless_in_file(self.kind.heading)


def memory_md(memories: Iterable[Stored], kinds: Kinds, now: datetime) -> str:
    """The memories that may be shown, one line each, in sections; kinds with tiers by tier.

    As many as a client loads, each kind its share; a section says how many more there are.
    """
    sections = _sections(memories, kinds, now)
    rooms = range(MEMORY_LINES + 1)
    first_too_long = bisect_left(rooms, True, key=lambda room: _too_long(_document(sections, room)))
    return _document(sections, max(0, first_too_long - 1))


def _too_long(text: str) -> bool:
    return text.count("\n") > MEMORY_LINES or len(text) > MEMORY_CHARS


def _document(sections: Sequence[KindSection], room: int) -> str:
    """MEMORY.md with so many lines shared out among its sections."""
    needs = [len(each.memories) for each in sections]
    given = share_out(needs, [each.kind.lines for each in sections], room, _OPENING)
    lines = ["# Memory", "", f"{NOTE} {FOOTER}"]
    for section, most in zip(sections, given, strict=True):
        shown = replace(section, memories=section.memories[:most])
        hidden = len(section.memories) - most
        lines += ["", f"## {section.heading}", *(_tiers(shown) if section.kind.tiers else [])]
        if not section.kind.tiers:
            said = [_line(memory, section, FULL) for memory in shown.memories]
            lines += ["", *(part for line in said for part in _items(line, section.kind))]
        if hidden:
            lines.append(f"- _…and {hidden} more: `ltm list --kind {section.kind.name}`_")
    return "\n".join(lines) + "\n"


def block(
    memories: Iterable[Stored], kinds: Kinds, now: datetime, max_lines: int = MAX_LINES
) -> str:
    """The same within `max_lines` lines, marks included: a line per memory, a share per kind.

    What was only observed a few times is left to MEMORY.md and to recall.
    """
    sections = [each for each in _sections(memories, kinds, now) if _settled(each)]
    head, foot = [START, TITLE, NOTE], ["", FOOTER, END]
    room = max_lines - len(head) - len(foot)
    given = share_out(
        [len(_settled(each)) + (len(_settled(each)) < len(each.memories)) for each in sections],
        [each.kind.lines for each in sections],
        room,
        _OPENING,
    )
    body: list[str] = []
    for section, lines in zip(sections, given, strict=True):
        if lines:
            body += ["", f"### {section.heading}", *_within(section, lines)]
    return "\n".join([*head, *body, *foot] if body else [START, END])


def _sections(memories: Iterable[Stored], kinds: Kinds, now: datetime) -> list[KindSection]:
    found: dict[str, list[Memory]] = {kind.name: [] for kind in kinds}
    shown = showable(memories, kinds, now)
    groups = disputes(shown)
    told_with = {each.memory.id for group in groups.values() for each in group[1:]}
    for each in shown:
        if each.memory.id not in told_with:
            found[each.memory.kind].append(each.memory)
    rivals = {name: tuple(each.memory for each in group) for name, group in groups.items()}
    return [
        KindSection(
            kind, sorted(found[kind.name], key=newest_first if kind.newest else _weightiest), rivals
        )
        for kind in kinds
        if found[kind.name]
    ]


def _weightiest(memory: Memory) -> tuple[int, int, float, str]:
    seen = max(memory.created, memory.confirmed)
    return -policy.importance(memory), -memory.observations, -seen.timestamp(), memory.id


def _line(memory: Memory, section: KindSection, most: int) -> str:
    """`- text [id]`, with its date if only the newest of its kind are shown.

    Memories that do not agree stand on one line, newest first, with a question mark.
    """
    kind, rivals = section.kind, section.rivals.get(memory.id)
    before = f"- {memory.created:%Y-%m-%d}: " if kind.newest and not rivals else "- "
    after = f" [{short_id(memory)}]" if not rivals else f" [? {' '.join(map(short_id, rivals))}]"
    if rivals:
        room = max(most, 2 * LINE) - len(before) - len(after)
        return before + say_disputed(rivals, kind, harmless_in_file, room).text + after
    said = say(memory, kind, harmless_in_file)
    return before + shorten(said.text, most - len(before) - len(after)) + after


def _items(line: str, kind: Kind) -> list[str]:
    """What happened keeps its list, where each line is told by its day."""
    return under_each_other(line) if kind.newest else [line]


def _tiers(section: KindSection) -> list[str]:
    """The memories under a heading for each tier, the firmest first."""
    lines: list[str] = []
    for tier in reversed(policy.TIERS):
        of_tier = [
            memory
            for memory in section.memories
            if policy.tier(memory.observations, section.kind) == tier
        ]
        if of_tier:
            lines += ["", f"### {tier.capitalize()} confidence", ""]
            lines += [_line(memory, section, FULL) for memory in of_tier]
    return lines


def _settled(section: KindSection) -> Sequence[Memory]:
    """Those firm enough for the block: said by the user, important, or seen often enough."""
    tiers = section.kind.tiers
    return [
        memory
        for memory in section.memories
        if not tiers
        or memory.observations >= tiers[-1]
        or memory.source.trust is Trust.USER
        or policy.is_spared(memory)
    ]


def _within(section: KindSection, lines: int) -> list[str]:
    """The section's memories in so many lines, the last one saying how many more there are."""
    settled = _settled(section)
    total = len(section.memories)
    room = lines if total <= lines and len(settled) == total else lines - 1
    shown = [_line(memory, section, LINE) for memory in settled[:room]]
    hidden = total - len(shown)
    return [*shown, f"- _…and {hidden} more_"] if hidden else shown


RECORD_FILE = "views.json"
FORMER = "former"


def is_as_written(private: str, path: str, data: bytes) -> bool:
    """Whether a view is what LTM last wrote there on this machine."""
    return _read_record(private).get(path) == etag(data)


def note(private: str, path: str, data: bytes) -> None:
    """Remember what was written. Never raises: without it the view is looked at more closely."""
    notes = {**_read_record(private), path: etag(data)}
    try:
        make_folder(private)
        write_file(os.path.join(private, RECORD_FILE), f"{write(notes)}\n".encode("ascii"))
    except LtmError:
        pass


def keep(private: str, path: str, data: bytes) -> str:
    """Keep a text that is about to be replaced; the path of the copy."""
    folder = os.path.join(private, FORMER)
    make_folder(folder)
    copy = os.path.join(folder, f"{_prefix(path)}{etag(data)[:12]}.{os.path.basename(path)}")
    write_file(copy, data)
    return copy


def former_text(private: str, path: str) -> list[tuple[str, bytes]]:
    """The kept texts of a view with their paths, the newest first."""
    paths = [each for each in every(private) if os.path.basename(each).startswith(_prefix(path))]
    try:
        paths.sort(key=lambda each: os.lstat(each).st_mtime_ns, reverse=True)
        return [(each, read_plain(each, follow=False)) for each in paths]
    except OSError:
        return []


def every(private: str) -> list[str]:
    """The paths of all kept texts."""
    folder = os.path.join(private, FORMER)
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    except OSError:
        return []


def rewrite(private: str, keep: Callable[[str], bool]) -> None:
    """Drop lines from the kept texts that must not be kept."""
    for path in every(private):
        data = read_plain(path, follow=False)
        lines = in_one_line(data.decode("utf-8", "surrogateescape")).splitlines(True)
        kept = "".join(line for line in lines if keep(line)).encode("utf-8", "surrogateescape")
        if kept != data:
            write_file(path, kept)


def _prefix(path: str) -> str:
    return f"{etag(os.fsencode(path))[:8]}."


def _read_record(private: str) -> dict[str, object]:
    try:
        return read_object(read_plain(os.path.join(private, RECORD_FILE)).decode("ascii"))
    except (OSError, ValueError):
        return {}


_PASSES = 4
_FIXED = {START, END, "# Memory", TITLE, NOTE, FOOTER, f"{NOTE} {FOOTER}", ""}
_MORE = re.compile(r"- _…and \d+ more(?:: `ltm list --kind \S+`)?_\Z")


@dataclass(frozen=True, slots=True)
class Published:
    """The files that were changed, what kept others from it, and the texts that were replaced."""

    written: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()
    """Files in which something stood that LTM did not write, each with the path of a copy."""


def write_views(
    store: Store,
    vaults: Sequence[Vault],
    root: str,
    *,
    now: datetime,
    max_lines: int = MAX_LINES,
    imports: bool = False,
    take_over: bool = False,
) -> Published:
    """Bring MEMORY.md of each vault and the marked blocks in the project `root` up to date.

    The block shows the first vault only, the one the project's new memories go to: what is private
    or an agent's own never gets into a file that others may read. With `imports` the block is the
    line that loads that vault's MEMORY.md, instead of a copy. Where a vault came with the
    repository and is not trusted, neither it nor the block is touched. What LTM did not
    write stays and is told as a problem, unless a person lets us `take_over`.
    """
    written: dict[str, None] = {}
    kept: dict[tuple[str, str], None] = {}
    problems: tuple[Problem, ...] = ()
    for _ in range(_PASSES):
        writing = _Writing(store, _private(vaults), take_over)
        done = _write_once(writing, vaults, root, now, max_lines, imports)
        problems = done.problems
        kept |= dict.fromkeys(done.kept)
        if not done.written:
            break
        # Another process may have changed a memory and written before us: look again until
        # there is nothing left to write, so that the last one leaves the newest state.
        written |= dict.fromkeys(done.written)
    return Published(tuple(written), problems, tuple(kept))


def give_back(vaults: Sequence[Vault], root: str) -> Published:
    """Put the text back that another tool or a person had where LTM writes now."""
    private = _private(vaults)
    views = (os.path.join(vault.folder, MEMORY_MD) for vault in vaults if vault.trusted)
    return _together(
        [_attempted(path, partial(_give_back, private, path)) for path in (*_targets(root), *views)]
    )


def _give_back(private: str, path: str) -> Published:
    former = [data for _, data in former_text(private, path) if not markers.is_ours(data)]
    if not former:
        return Published()
    existing = _read(path, follow=False)
    view = markers.find_block(existing)
    if os.path.basename(path) == MEMORY_MD:
        view = markers.MarkedBlock(existing, 1, 0)
    if view is None or not (view.is_empty or markers.is_ours(view.data)):
        return Published()  # what stands there now is not ours to replace
    rest = existing[view.begin + len(view.data) :]
    return _put(path, existing, existing[: view.begin] + former[0] + rest)


def _write_once(
    writing: _Writing,
    vaults: Sequence[Vault],
    root: str,
    now: datetime,
    max_lines: int,
    imports: bool,
) -> Published:
    store = writing.store
    of_vault: defaultdict[str, list[Stored]] = defaultdict(list)
    for each in store.list(Filter()).items:
        of_vault[each.vault].append(each)
    done = []
    for vault in (each for each in vaults if each.trusted):
        path = os.path.join(vault.folder, MEMORY_MD)
        if of_vault[vault.name] or os.path.exists(path):
            text = memory_md(of_vault[vault.name], store.kinds, now)
            done.append(_attempted(path, partial(writing.memory_md, path, text, vault.file_mode)))
    if not all(vault.trusted for vault in vaults):
        return _together(done)
    views = [os.path.join(vault.folder, MEMORY_MD) for vault in vaults]
    inline = block(of_vault[vaults[0].name], store.kinds, now, max_lines)
    for path in _targets(root):
        line = markers.import_line(views[0], path)
        text = markers.import_block(line) if imports else inline
        write = partial(writing.block, path, root, text, views, other_way="" if imports else line)
        done.append(_attempted(path, write))
    return _together(done)


@dataclass(frozen=True, slots=True)
class _Writing:
    """The way of a view into its file, past what others wrote there."""

    store: Store
    private: str
    take_over: bool

    def memory_md(self, path: str, text: str, mode: int) -> Published:
        """Write a vault's MEMORY.md; a link in its place is not followed but replaced."""
        existing, wanted = _read(path, follow=False), text.encode()
        theirs = foreign_memory_md(existing, path)
        if theirs is not None and not self.take_over:
            return Published(problems=(theirs.problem,))
        ours = theirs is None
        return self._replace(path, existing, wanted, existing, wanted, mode=mode, ours=ours)

    def block(
        self, path: str, root: str, text: str, views: Sequence[str], *, other_way: str
    ) -> Published:
        """Write the block into a file whose marks ask for it."""
        existing = _read(path)
        wanted = markers.with_block(existing, text)
        if wanted is None:
            return Published()
        if not is_inside(path, root):
            problem = Problem(path, "lies outside the project, so it gets no block")
            return Published(problems=(problem,))
        found = markers.problems(existing, path)
        before, after = markers.find_block(existing), markers.find_block(wanted)
        if before is None or after is None:
            return Published(problems=found)
        theirs = foreign_block(existing, path, root, views)
        if theirs is not None and not self.take_over:
            return Published(problems=(theirs.problem,))
        if other_way and other_way.encode() in markers.without_block(existing):
            message = f"also loads all memories with '{other_way}'; take that line or the block out"
            found = (*found, Problem(path, message))
        mode = stat.S_IMODE(os.stat(path).st_mode)
        done = self._replace(
            path, existing, wanted, before.data, after.data, mode=mode, ours=theirs is None
        )
        return Published(done.written, found, done.kept)

    def _replace(
        self,
        path: str,
        existing: bytes,
        wanted: bytes,
        before: bytes,
        after: bytes,
        *,
        mode: int,
        ours: bool,
    ) -> Published:
        """Write a file unless it has these bytes already; `before` and `after` are the view in it.

        A copy is kept of what others wrote, be it all of the view or a line in it.
        """
        if existing == wanted:
            return Published()
        kept: tuple[tuple[str, str], ...] = ()
        if not ours or (
            markers.is_ours(before)
            and not is_as_written(self.private, path, before)
            and _has_typed_lines(before, self.store)
        ):
            kept = ((path, keep(self.private, path, before)),)
        done = _put(path, existing, wanted, mode)
        note(self.private, path, after)
        return Published(done.written, kept=kept)


def _private(vaults: Sequence[Vault]) -> str:
    """The project's own folder outside the repository."""
    return next(vault.folder for vault in vaults if vault.name == "private")


def _targets(root: str) -> list[str]:
    return list(dict.fromkeys(os.path.realpath(os.path.join(root, name)) for name in TARGETS))


def _together(done: Sequence[Published]) -> Published:
    return Published(
        tuple(path for each in done for path in each.written),
        tuple(problem for each in done for problem in each.problems),
        tuple(copy for each in done for copy in each.kept),
    )


def _attempted(path: str, write: Callable[[], Published]) -> Published:
    """What a writer did, or why it could not."""
    for _ in range(_PASSES):
        try:
            return write()
        except Conflict:
            continue  # another program wrote the file at this moment: look at it again
        except LtmError as error:
            return Published(problems=(Problem(path, error.message),))
        except OSError as error:
            message = f"cannot be read, so it is left as it is: {error.strerror or error}"
            return Published(problems=(Problem(path, message),))
    return Published(problems=(Problem(path, "was changed by others again and again"),))


def _read(path: str, *, follow: bool = True) -> bytes:
    """A file's bytes, none where it is missing or, unless we follow it, a link."""
    try:
        return read_plain(path, follow=follow)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        if error.errno == errno.ELOOP and not follow:
            return b""
        raise


def _put(path: str, existing: bytes, wanted: bytes, mode: int = 0) -> Published:
    """Write a file in the place of one that still has these bytes."""

    def check() -> None:
        if _read(path, follow=False) != existing:
            raise Conflict("was changed by another program at this moment", path=path)

    mode = mode or stat.S_IMODE(os.stat(path).st_mode)
    write_file(path, wanted, mode=mode, check=check)
    return Published(written=(path,))


def _has_typed_lines(view: bytes, store: Store) -> bool:
    """Whether a block or MEMORY.md that LTM wrote has a line that it did not write."""
    known: dict[str, list[Memory]] = {}
    ours = _FIXED | set(_headings(store.kinds))
    for line in in_one_line(view.decode("utf-8", "replace")).splitlines():
        if line.strip() in ours or _MORE.match(line.strip()):
            continue
        told = re.match(TAGGED, line)
        if told is None:
            return True
        known = known or _by_short_id(store)
        if not any(_is_of(each, told["text"], store) for each in known.get(told["id"], ())):
            return True
    return False


def _headings(kinds: Kinds) -> Iterator[str]:
    for kind in kinds:
        yield f"## {harmless_in_file(kind.heading)}"
        yield f"### {harmless_in_file(kind.heading)}"
    for tier in policy.TIERS:
        yield f"### {tier.capitalize()} confidence"


def _by_short_id(store: Store) -> dict[str, list[Memory]]:
    found: dict[str, list[Memory]] = {}
    for each in store.every(Filter(statuses=())):
        found.setdefault(short_id(each.memory), []).append(each.memory)
    return found


def _is_of(memory: Memory, line: str, store: Store) -> bool:
    """Whether a memory says this, or said it before it was changed."""
    former = (version.memory for version in store.versions(memory.id))
    return any(is_current(line, each, store.kinds) for each in (memory, *former))
