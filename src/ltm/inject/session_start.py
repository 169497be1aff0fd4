"""Session-start text of a project.

The instruction files a client loads by itself, read as it reads them, to see what they tell.

Owns which files those are and how `@path` imports are followed. Only plain files of moderate size
inside the project are read; whatever cannot be read tells nothing. Imports the standard library and
`storage.plainfile`, because hooks use it.

Which memories the client's own instruction files already tell, so that they are not told twice.

A memory is carried when a line of those files that ends in its short id still says what we would
write today (a stale line does not count), or when every sentence of it stands there. Pure; imports
core and this package.

The text the next session is told about a store: selected, rendered, and never over its limits.

Owns the budget: what the fence costs, what each line costs, and the last check on the whole text.
Reads the store and never counts that as a use. Imports core, the store's port and this package, so
that a hook can afford it.

What a session in this project is told now: the composer with the project's own settings.

Owns the budget that follows from the options, where the client's own instructions are, and the line
that says what is kept back. The hook, `ltm inject` and the demo all tell the same through here.
"""

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from ltm import policy
from ltm.files.atomic import is_inside, read_plain
from ltm.inject.render import (
    DATE,
    SHORT_ID,
    InjectionItem,
    body,
    find_format,
    frame,
    harmless_in_file,
    offer_lines,
    say,
    short_id,
    units,
    words_of,
)
from ltm.inject.select import disputes, select
from ltm.kinds import Kinds
from ltm.model import Filter, Memory, Phase, Stored, Usage
from ltm.notes.stash import MANY, Stashes
from ltm.project.home import loads_agents_md
from ltm.state.candidates import Candidates
from ltm.store.open import waiting
from ltm.store.other_tools import Foreign, foreign
from ltm.text.display import counted, estimate
from ltm.vault import key_file

if TYPE_CHECKING:
    from ltm.config.config import Config
    from ltm.project.layout import Places
    from ltm.store.store import Store


FILES = ("CLAUDE.md", os.path.join(".claude", "CLAUDE.md"), "CLAUDE.local.md")
"""What is loaded from a folder and from every folder above it."""

AGENTS = ("AGENTS.md", os.path.join(".claude", "AGENTS.md"))
"""What some clients load from there instead, where none of those has any text."""

_SETTINGS = ("settings.json", "settings.local.json")
_CHOICE = b"agents-md"  # in settings that say which of them are loaded

_LIMIT = 256 * 1024
_DEPTH = 5
# Compiled where they are used: most files import nothing.
_CODE = r"(?ms)^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1|\Z)|(`+)[^`].*?\2"
_IMPORT = r"(?:^|(?<=\s))@((?:\\ |\S)+)"


def loaded_text(folder: str, user_folder: str = "", *, agents_md: bool = False) -> str:
    """What the client loads for a session in `folder`, as one text.

    `user_folder` is the client's own configuration folder, with a CLAUDE.md for all projects.
    `agents_md` says that this client loads AGENTS.md where there is no CLAUDE.md.
    """
    seen: set[str] = set()
    parts: list[str] = []
    if user_folder:
        parts += _read(os.path.join(user_folder, FILES[0]), "", seen, 0)
    places = list(_upwards(os.path.abspath(folder)))
    instead = (
        agents_md
        and all(map(_is_empty, _named(places, FILES)))
        and not any(map(_is_chosen, settings_files(folder, user_folder)))
    )
    for place in places:
        for name in AGENTS if instead else FILES:
            parts += _read(os.path.join(place, name), place, seen, 0)
    return "\n\n".join(parts)


def has_agents_md(folder: str) -> bool:
    """Whether it makes a difference in `folder` that a client loads AGENTS.md."""
    return any(map(os.path.exists, _named(_upwards(os.path.abspath(folder)), AGENTS)))


def settings_files(folder: str, user_folder: str) -> list[str]:
    """Where a person can choose which of these files the client loads."""
    folders = [os.path.join(folder, ".claude"), *([user_folder] if user_folder else [])]
    return list(_named(folders, _SETTINGS))


def _named(folders: Iterable[str], names: Iterable[str]) -> Iterator[str]:
    return (os.path.join(folder, name) for folder in folders for name in names)


def _is_empty(path: str) -> bool:
    """Whether a file says nothing, or is not there; one that cannot be read may say anything."""
    try:
        return not read_plain(path, limit=_LIMIT).strip()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False


def _is_chosen(path: str) -> bool:
    """Whether settings have a choice of files in them, or cannot be read."""
    try:
        return _CHOICE in read_plain(path, limit=_LIMIT)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True


def _upwards(folder: str) -> Iterator[str]:
    while True:
        yield folder
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above


def _read(path: str, top: str, seen: set[str], depth: int) -> Iterator[str]:
    """The text of a file, and of the files inside `top` that it imports."""
    if path in seen:
        return
    seen.add(path)
    try:
        text = read_plain(path, limit=_LIMIT).decode("utf-8-sig", errors="replace")
    except (OSError, ValueError):
        return
    yield text
    if not top or depth >= _DEPTH or "@" not in text:
        return
    for found in re.finditer(_IMPORT, re.sub(_CODE, "", text)):
        name = found[1].replace("\\ ", " ")
        imported = os.path.normpath(os.path.join(os.path.dirname(path), name))
        # A client asks before it loads anything from outside; the answer is unknown.
        if is_inside(imported, top):
            yield from _read(imported, top, seen, depth + 1)


TAGGED = re.compile(
    rf"^\s*[-*+] (?:{DATE}: )?(?P<text>.*?)(?P<disputed> \({DATE}\) — .*)?"
    rf" \[(?:\? )?(?P<id>[0-9a-z_-]{{1,{SHORT_ID}}})(?: [0-9a-z_-]+)*\]\s*$",
    re.MULTILINE,
)
"""A line of a view: the words of a memory, and the end of its id."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*")
_BULLET = re.compile(r"^[\s>#*+-]*(?:\d+[.)]\s+)?")
_DECORATION = re.compile(r"[*_`\"'“”‘’]+")
_ENDS = " \t.,;:!?。！？…"

_LONG = 200  # two words are hardly longer

LEAST = 12
"""Characters below which a sentence is too common to prove that it is ours."""


def carried(text: str, memories: Iterable[Stored], kinds: Kinds) -> frozenset[str]:
    """Ids of the memories that `text`, as the client loads it, already tells."""
    if not text.strip():
        return frozenset()
    tagged = {found["id"]: found["text"] for found in TAGGED.finditer(text)}
    sentences = _sentences_of(text)
    openings = frozenset(map(_opening, sentences))
    return frozenset(
        each.memory.id
        for each in memories
        if is_current(tagged.get(short_id(each.memory), ""), each.memory, kinds)
        or _stands_in(words_of(each.memory) or each.memory.title, sentences, openings)
    )


def is_current(line: str, memory: Memory, kinds: Kinds) -> bool:
    """Whether a line of a view says what the memory says now, as far as the line goes."""
    if not line or memory.kind not in kinds:
        return False
    now = say(memory, kinds[memory.kind], harmless_in_file).text
    return line == now or (line.endswith("…") and now.startswith(line[:-1].rstrip()))


def _sentences_of(text: str) -> frozenset[str]:
    """Every line and every sentence, sentences also where a paragraph is wrapped."""
    found: set[str] = set()
    for paragraph in re.split(r"\n\s*\n", text):
        lines = [_BULLET.sub("", line) for line in paragraph.split("\n")]
        for line in (*lines, " ".join(lines)):
            found.add(_plain(line))
            found.update(_plain(sentence) for sentence in _SENTENCE.split(line))
    return frozenset(found)


def _stands_in(words: str, sentences: frozenset[str], openings: frozenset[str]) -> bool:
    """Whether every sentence of a memory is among those of the file."""
    if _opening(words) not in openings:  # rules out nearly every memory at little cost
        return False
    wanted = [_plain(each) for each in _SENTENCE.split(" ".join(words.split()))]
    return len(max(wanted, key=len)) >= LEAST and all(each in sentences for each in wanted if each)


def _opening(text: str) -> str:
    """The first two words of a sentence."""
    return _plain(" ".join(text[:_LONG].split(None, 2)[:2]))


def _plain(text: str) -> str:
    """A sentence without its decoration, so that only the words are compared."""
    return " ".join(_DECORATION.sub("", text).split()).strip(_ENDS).casefold()


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
    offers: Sequence[str] = (),
) -> Injection:
    """The most important memories of a store as one text within both limits, fence included.

    `sessions` is how many the project has had, `claude_md_text` what the client loads by itself and
    so need not be told again, `notice` a line to be added in any case, `offers` are lines behind
    the memories where a quarter of the limits has room for them. The same store and arguments give
    the same text. A store with nothing to tell, or limits too small for the fence,
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
        offers=offers,
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
    offers: Sequence[str] = (),
) -> Injection:
    """The same from memories already read; pure."""
    block = "\n".join(offers)
    if 4 * estimate(block) > budget_tokens or 4 * units(block) > max_chars:
        offers = ()
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
        lines_told = [*body(told, style, kinds), *offers]
        return frame(lines_told, agent, project, left_out, notice)

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
    while shown or left_out or notice or offers:
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


def tell(
    store: "Store",
    places: "Places",
    config: "Config",
    now: datetime,
    *,
    style: str | None = None,
    budget: int | None = None,
    short: bool = False,
) -> Injection:
    """The text for a session's start; `short` is for a sub-agent."""
    percent = config.get("inject.budget_percent") / 100
    tokens = int(config.get("inject.context_window") * percent) if budget is None else budget
    chars = config.get("inject.max_chars")
    return compose(
        store,
        agent=places.agent,
        project=places.project.name,
        now=now,
        sessions=store.sessions(),
        format=style or config.get("inject.format"),
        budget_tokens=min(tokens, SHORT_TOKENS) if short else tokens,
        max_chars=min(chars, SHORT_CHARS) if short else chars,
        claude_md_text=loaded_text(
            places.project.root, client_folder(), agents_md=loads_agents_md()
        ),
        is_tampered=doubt(places),
        notice="" if short else notice(store, places),
        offers=()
        if short
        else offer_lines(Candidates(places.private).offers(config.get("capture.offer"))),
    )


def doubt(places: "Places") -> Callable[[Memory], bool] | None:
    """Whether a memory is not as it was signed; None without a key."""
    key = key_file.load(places.home)
    return None if key is None else key.is_doubtful


def notice(store: "Store", places: "Places") -> str:
    """What waits for the user, in one line: memories kept back, those of other tools, and many
    stashes; else nothing."""
    parts = []
    quarantined, untrusted = waiting(store, places)
    if quarantined:
        parts.append(f"{counted(quarantined, 'memory')} from untrusted sources (ltm approve)")
    if untrusted:
        parts.append(f"{counted(untrusted, 'memory')} that came with this repository (ltm trust)")
    if places.untrusted_agent:
        parts.append("memories of the agent that files of this repository name (ltm trust)")
    if places.project.claimed:
        parts.append("memories of the project this folder says to be (ltm trust --same-project)")
    said = [f"Not told until the user decides: {', '.join(parts)}."] if parts else []
    offers = [_offer(each, places.project.root) for each in foreign(places) if each.is_new]
    if offers:
        left = "Memories of other tools, left alone until the user decides:"
        said.append(f"{left} {'; '.join(offers)}.")
    stashes = Stashes(places.project.root, places.private).waiting()
    if stashes >= MANY:
        said.append(f"{stashes} stashes wait to be remembered (ltm consolidate --all).")
    return " ".join(said)


def _offer(found: Foreign, root: str) -> str:
    """Where another tool keeps memories, and the command that takes them in."""
    line = f" line {found.line}" if found.line else ""
    return (
        f"{_shown(found.path, root)}{line} (ltm import {shlex.quote(_shown(found.source, root))})"
    )


def _shown(path: str, root: str) -> str:
    return os.path.relpath(path, root) if is_inside(path, root) else path


def client_folder() -> str:
    """The client's own configuration folder, or nothing when there is no home."""
    from ltm.project.home import client_folder as folder_in

    return folder_in(os.environ)
