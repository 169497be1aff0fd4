"""What a memory says cannot steer the terminal it is shown on (reliability S13).

Escape sequences, forged lines and shell words in every field of memories, in sessions and in names;
every command that shows them is run on a terminal of its own, and its bytes are counted.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ltm.config.config import load
from ltm.model import Status
from ltm.project.layout import places
from ltm.store.open import open_files
from tests.cli.runner import Ltm
from tests.figures import count
from tests.sessions.writing import Transcript
from tests.stores import make

pytest.importorskip("pty")

STEERING = (
    "\x1b[2J\x1b[H",
    "\x1b]0;title\x07",
    "\x1b]8;;http://evil.test\x1b\\link\x1b]8;;\x1b\\",
    "\x1b]52;c;Y3VybA==\x07",
    "\x9b31m",
    "\x1b[35;7mpink",
    "\x90q\x9c",
    "\r~FORGED:CRIT| line",
    "\x08\x08\x08",
    "\x07\x0e\x7f\x00"[:3],
    "\u202eevil\u2066",
    "$(touch pwned) `touch pwned` ; touch pwned",
)


OWN = re.compile(r"\r?\x1b\[(?:\?25[lh]|K|[0-3]?m)|\r(?=Reading sessions)")
"""Bold headings and the bar of what takes long: what we write ourselves on a terminal."""


def raw_bytes(text: bytes) -> bytes:
    """The bytes of an output that would make a terminal do something."""
    seen = OWN.sub("", text.decode("utf-8", "replace")).replace("\r\n", "\n")
    steering = [
        each for each in seen if each not in "\n\t" and (each < " " or "\x7f" <= each <= "\x9f")
    ]
    steering += [each for each in seen if each in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068"]
    return "".join(steering).encode()


def shown(ltm: Ltm, *words: str) -> bytes:
    """What a command writes on a terminal."""
    return ltm.on_a_terminal(*words, NO_COLOR="1", PAGER="cat")


def test_no_raw_control_byte_reaches_a_terminal(ltm: Ltm) -> None:
    where = places(str(ltm.project), environ={"LTM_HOME": str(ltm.home / ".ltm")})
    store = open_files(where, load(where.home, where.shared))
    ids = []
    for number, evil in enumerate(STEERING):
        text = f"memory {number} of the parser {evil} end"
        status = Status.QUARANTINED if number % 5 == 4 else Status.ACTIVE
        # Front matter holds no control byte: a title with one is refused where it comes in.
        memory = make(f"memory {number} of the parser", text, status=status)
        ids.append(store.create(memory).memory.id)
    store.close()
    log = Transcript(ltm.home / "s1.jsonl", "s1")
    for evil in STEERING:
        log.user(
            f"remember that the parser {evil} needs care in src/parser.py", cwd=str(ltm.project)
        )
        log.calls("Bash", command=f"make {evil}")
        log.result(f"ParserError: {evil} failed", error=True)
        log.says(f"It failed with {evil}.")
    ltm.ok("capture", str(log.path))
    commands = [
        ("list",),
        ("list", "--status", "all"),
        ("recall", "parser", "memory"),
        ("recall", "--limit", "50", "parser"),
        ("approve",),
        ("inject",),
        ("sessions",),
        ("timeline",),
        ("status",),
        ("stats",),
        ("doctor",),
        ("graph",),
        ("why", "src/parser.py"),
        ("fix", "ParserError: failed"),
        ("ask", "what about the parser?"),
        ("friction", str(log.path)),
        ("stash", "--list"),
        ("show", STEERING[0]),
        ("recall", STEERING[1]),
        ("config", STEERING[2]),
        ("forget", STEERING[4]),
        *(("show", each) for each in ids[:4]),
        *(("related", each) for each in ids[:2]),
        ("forget", ids[0]),
        ("restore", ids[0]),
    ]
    found = {}
    for words in commands:
        said = shown(ltm, *words)
        assert said, words
        if raw := raw_bytes(said):
            found[words] = raw
    count(
        "S13",
        commands_on_a_terminal=len(commands),
        hostile_texts=len(STEERING),
        raw_control_bytes=sum(map(len, found.values())),
        shell_words_run=int((ltm.project / "pwned").exists()),
    )
    assert found == {}
    assert not list(Path(ltm.project).rglob("pwned"))
