"""Every trap earlier tools fell into has a test that names it.

A test says in its docstring which trap it keeps us out of: "traps 2.1 #14". The table below says
what went wrong there, in a few words; sections are numbered by the tool (2.1 to 2.5), 2.6
is where the tools contradict each other. What cannot happen here stands in `ELSEWHERE`, with the
reason.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

TRAPS: dict[str, tuple[str, ...]] = {
    "2.1": (
        "what the start hook said was in a field the client does not read",
        "titles were told, and no content",
        "the bonus for a compaction was a fifth of what it said",
        "a tool failed if its output had the word error in it",
        "a compaction was forgotten at the next start, and every resumption was a new session",
        "eviction looked at the first page, or at ranks 101 to 110",
        "a batch that only shortens never makes a vault smaller",
        "upkeep counted what it read as use",
        "priority was computed for what was used only, so that recency never fell",
        "a listing was cut twice, and its total was the page's",
        "the summary that is never changed was cut",
        "hooks did nothing without a server, and two servers overwrote each other's note",
        "two writers lost an entry, and the repair deleted its file",
        "titles with quotes and line breaks came back broken",
        "what a teammate wrote had never been used, and died first",
        "a search was one substring",
        "a dependency was not pinned, and a server listened on every address",
        "an environment variable and a time limit that do not exist",
        "writes that were not durable, and a default that hid the computed difficulty",
        "what was forgotten stayed in git's archive",
        "one argument had two names",
    ),
    "2.2": (
        "a healthy habit was the worst of signals, and so was a folder of its name",
        "success could not be seen, so that every failure was one for good",
        "results in lists were not looked at",
        "words of success and of denial that were matched wrongly",
        "the description and the code had different weights",
        "the last signals were not the latest, and one loop counted three times",
        "what a client writes in the user's name was taken for the user's words",
        "a fork was another session",
        "one bad line dropped a session, and a folder that is not there was no error",
        "an import line that loads nothing",
        "the same evidence promoted by repetition, and nothing without a stash",
        "two observations stood under medium",
        "a manifest without hashes, written at the end, and no way without a model",
        "a hook that was said not to exist, and memory outside the project",
        "what of it belongs in git was left open",
        "one script in two places",
    ),
    "2.3": (
        "twenty thousand tokens into a field of ten thousand characters",
        "a word of success after the JSON",
        "what was forgotten was told as forgotten, with its beginning",
        "decay of what had decayed, at every turn",
        "two folders of one name were one project",
        "parts of words told kind, impact and scope",
        "a key that was written where nobody looked, in plain text",
        "fields that could be moved into one another, and no word of missing signatures",
        "agents' files rewritten and renamed",
        "a commit for every memory that was told",
        "the first memory that did not fit ended the list",
        "line breaks and end marks in a memory",
        "an export without half of the fields",
        "commits whose subject has a bar in it",
        "project over agent and contradiction: promised, and nowhere done",
        "a tokenizer that downloads its words",
        "characters that were decoded twice",
    ),
    "2.4": (
        "the cursor moved on although nothing was extracted",
        "short stretches were skipped unread",
        "a server wrote its old state over what a hook had saved",
        "a lock that was looked at, and then taken",
        "replacement marks in a memory broke the file it was written to",
        "the example in the documentation did not hold",
        "what was to replace something unknown was dropped",
        "every hook waited a second for its input",
        "a block of 150 lines that had 163",
        "one model, hard-coded, and only with a key",
        "transcripts sent with the secrets in them, keys others could read",
        "ids a model made up, and knowledge it dropped",
        "states kept as tags, and never pruned",
        "a search renewed what it found, and 0.3 was on either side",
        "a model call after every response, while the user waits",
        "snapshots by way of the user's own branches",
        "a duplicate that was announced and never happened",
    ),
    "2.5": (
        "the end of every turn was taken for the end of the session, and answered",
        "saving asked the model for tool calls, which were counted again",
        "facts were kept and never told",
        "a file that was cut off wiped all facts, and counters lost counts",
        "facts were extracted again at every run, and cut at the wrong colon",
        "ids were used again after a clear",
        "a transcript was copied at every turn, secrets and all, into git",
        "an archive doubled after a crash, and thirty days were not enough",
        "files went wherever the process happened to run",
        "only one way to begin a session was listened to",
        "clearing was a deletion by the model",
        "a compaction took what was not saved yet",
    ),
    "2.6": (
        "MEMORY.md and memory.md are one file on some disks",
        "two owners of one pair of marks",
        "five kinds of store",
        "one project or all of them",
        "archive, keep, delete or clear",
        "extraction never, at every stop or every five tools",
        "confidence as contradiction, age or count",
        "one command name for different things",
        "five forms of ids",
        "four ways to tell a session, and the same fact twice",
    ),
}

ELSEWHERE = {
    ("2.2", 16): "nothing here is a script in a repository: there is one installed command",
    ("2.4", 16): "nothing here takes snapshots of a work tree or makes branches",
}

_MENTION = re.compile(r"traps?\s+(?P<rows>2\.\d(?:[\s,]|and|#\d+|2\.\d)*)", re.IGNORECASE)
_PART = re.compile(r"(?P<section>2\.\d)|#(?P<row>\d+)")


@cache
def mentions() -> frozenset[tuple[str, int, str]]:
    """Every trap a test names, and that test."""
    return frozenset(_mentions())


def _mentions() -> Iterator[tuple[str, int, str]]:
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for mention in _MENTION.finditer(ast.get_docstring(node) or ""):
                    section = ""
                    for part in _PART.finditer(mention["rows"]):
                        section = part["section"] or section
                        if part["row"]:
                            yield section, int(part["row"]), f"{path.name}::{node.name}"


ROWS = [
    pytest.param(section, number, id=f"{section} #{number}: {what}")
    for section, rows in TRAPS.items()
    for number, what in enumerate(rows, 1)
]


@pytest.mark.parametrize(("section", "number"), ROWS)
def test_every_trap_has_a_test_or_a_reason_to_have_none(section: str, number: int) -> None:
    named = {test for at, row, test in mentions() if (at, row) == (section, number)}
    assert bool(named) != ((section, number) in ELSEWHERE)


def test_every_trap_a_test_names_is_in_the_table() -> None:
    unknown = {
        (section, number, test)
        for section, number, test in mentions()
        if section in TRAPS and number > len(TRAPS[section])
    }
    assert unknown == set()


def test_no_text_of_ltm_was_decoded_twice() -> None:
    """traps 2.3 #17: arrows and warning signs that had become three letters each."""
    garbled = [
        path
        for folder in ("src", "server", "docs")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".md", ".sh", ".json", ".toml", ".html", ".js", ".css"}
        and re.search(r"[âÃÂð][\x80-\u20ff\u2018-\u203a€™“”œž]", path.read_text(encoding="utf-8"))
    ]
    assert garbled == []
