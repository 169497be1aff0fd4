"""What the client's own instruction files already say, so that it is not told twice.

Knows which files a client loads by itself and how it follows `@path` imports; only plain files of
moderate size inside the project are read, and one that cannot be read says nothing. A memory stands
in them when a line that ends in its short id still has its words of today (a stale line does not
count), or when every sentence of it is there. Hooks run this.
"""

import os
import re
from collections.abc import Iterable, Iterator

from ltm.files.atomic import is_inside, read_plain
from ltm.inject.render import DATE, SHORT_ID, harmless_in_file, say, short_id, words_of
from ltm.kinds import Kinds
from ltm.model import Memory, Stored
from ltm.project.home import instruction_names

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


def loaded_text(
    folder: str, user_folder: str = "", *, agents_md: bool = False, names: tuple[str, ...] = ()
) -> str:
    """What the client loads for a session in `folder`, as one text.

    `names` are the files of a client other than Claude Code; then nothing else counts.

    `user_folder` is the client's own configuration folder, with a CLAUDE.md for all projects.
    `agents_md` says that this client loads AGENTS.md where there is no CLAUDE.md.
    """
    seen: set[str] = set()
    parts: list[str] = []
    if names:
        for path in _named(_upwards(os.path.abspath(folder)), names):
            parts += _read(path, "", seen, 0)
        return "\n\n".join(parts)
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


def differs_for(folder: str, client: str) -> str:
    """How clients begin for which what is loaded in `folder` is the same as for this one.

    All of them where there is no file; those of one kind where there is none that only some of its
    versions load.
    """
    there = [
        any(map(os.path.exists, _named(_upwards(os.path.abspath(folder)), names)))
        for names in (AGENTS, FILES, instruction_names())
    ]
    return client if there[0] else client.partition(" ")[0] if any(there) else ""


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


# Patterns are compiled where one is needed: in many projects the client loads no file.
TAGGED = (
    rf"(?m)^\s*[-*+] (?:{DATE}: )?(?P<text>.*?)(?P<disputed> \({DATE}\) — .*)?"
    rf" \[(?:\? )?(?P<id>[0-9a-z_-]{{1,{SHORT_ID}}})(?: [0-9a-z_-]+)*\]\s*$"
)
"""A line of a view: the words of a memory, and the end of its id."""

_ITEM = " ⏎ - "
_UNDER = r"(?m)^(?P<head>- .*?)(?P<tag> \[[^\[\]\n]+\])\n(?P<items>(?:  - .*(?:\n|\Z))+)"


def under_each_other(line: str) -> list[str]:
    """A line of a view whose text is a list, as a head with its id and a line for each item."""
    text, mark, tag = line.rpartition(" [")
    head, colon, items = text.partition(": - ")
    if not (mark and colon and items):
        return [line]
    return [f"{head}:{mark}{tag}", *(f"  - {item}" for item in items.split(_ITEM))]


def in_one_line(view: str) -> str:
    """A view with the items of lists back in the line of their memory."""

    def joined(found: re.Match[str]) -> str:
        items = (each[4:] for each in found["items"].splitlines())
        return f"{found['head']} - {_ITEM.join(items)}{found['tag']}\n"

    return re.sub(_UNDER, joined, view) if "\n  - " in view else view


_SENTENCE = r"(?<=[.!?])\s+|(?<=[。！？])\s*"
_BULLET = r"^[\s>#*+-]*(?:\d+[.)]\s+)?"
_DECORATION = r"[*_`\"'“”‘’]+"
_ENDS = " \t.,;:!?。！？…"

_LONG = 200  # two words are hardly longer

LEAST = 12
"""Characters below which a sentence is too common to prove that it is ours."""


def carried(text: str, memories: Iterable[Stored], kinds: Kinds) -> frozenset[str]:
    """Ids of the memories that `text`, as the client loads it, already tells."""
    if not text.strip():
        return frozenset()
    tagged = {found["id"]: found["text"] for found in re.finditer(TAGGED, in_one_line(text))}
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
        lines = [re.sub(_BULLET, "", line) for line in paragraph.split("\n")]
        for line in (*lines, " ".join(lines)):
            found.add(_plain(line))
            found.update(_plain(sentence) for sentence in re.split(_SENTENCE, line))
    return frozenset(found)


def _stands_in(words: str, sentences: frozenset[str], openings: frozenset[str]) -> bool:
    """Whether every sentence of a memory is among those of the file."""
    if _opening(words) not in openings:  # rules out nearly every memory at little cost
        return False
    wanted = [_plain(each) for each in re.split(_SENTENCE, " ".join(words.split()))]
    return len(max(wanted, key=len)) >= LEAST and all(each in sentences for each in wanted if each)


def _opening(text: str) -> str:
    """The first two words of a sentence."""
    return _plain(" ".join(text[:_LONG].split(None, 2)[:2]))


def _plain(text: str) -> str:
    """A sentence without its decoration, so that only the words are compared."""
    return " ".join(re.sub(_DECORATION, "", text).split()).strip(_ENDS).casefold()
