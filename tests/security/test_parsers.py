"""Every parser meets what is made to hurt one: a second of work and 100 MB at the most (S6).

Front matter, lists of strict YAML, configs, transcripts, events, questions, the merge driver, what
is imported, and what a model answers. Each trap is read in a process of its own, which tells the
time and the memory it took beyond what an empty text takes; whatever is raised is an error of ours.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from tests.figures import count, worst

_KEYS = "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(9)
)
GOOD = "---\nid: mem_abc12345\ntitle: x\n"


def fronted(text: str) -> str:
    return f"{GOOD}{text}\n---\nbody\n"


def hostile(size: int) -> dict[str, str]:
    """Texts that are hard on parsers and patterns whatever language they are meant to be in."""
    return {
        "alias bomb": fronted(f"a: &a [x, x, x, x, x, x, x, x, x]\n{_KEYS}"),
        "brackets": "[" * 100_000,
        "closed brackets": "[" * 100_000 + "]" * 100_000,
        "braces": '{"a":' * 100_000,
        "front matter of brackets": fronted("own: " + "[" * 100_000),
        "50 MB of front matter": GOOD + "a: b\n" * (size // 5),
        "one line": "x" * size,
        "duplicate keys": fronted("tags: [a]\n" * 3_000),
        "duplicate JSON keys": "{" + ",".join(['"id":"x"'] * 100_000) + "}",
        "tags": fronted("state: !!python/object/apply:os.system [id]"),
        "huge integer": fronted(f"observations: {'9' * 60_000}"),
        "huge JSON integer": '{"version":' + "9" * 1_000_000 + "}",
        "huge TOML integer": "[inject]\nmax_chars = " + "9" * 100_000 + "\n",
        "huge exponent": '{"version":1e999999999}',
        "many dashes": "-" * 1_000_000,
        "many blanks": "a" + " " * 1_000_000 + "b",
        "many quotes": "\\\"'`" * 250_000,
        "many dots": "a." * 500_000 + "!",
        "words without end": "a " * 500_000,
        "slashes": "/a" * 500_000,
        "dates": "in march 2026 last week two days ago " * 20_000,
        "errors": "Error: failed cannot undefined at x.py:1 " * 20_000,
        "keys": "password = token: secret=" * 40_000,
        "percent signs": "%25" * 300_000,
        "base64": "QUJD" * 250_000,
        "combining": "e" + "\u0301" * 500_000,
        "right to left": "\u202e\u2066" * 250_000,
        "newlines": "\n" * 1_000_000,
        "conflicts": "<<<<<<< a\n=======\n>>>>>>> b\n" * 20_000,
        "TOML tables": "".join(f"[a{n}]\nb = 1\n" for n in range(30_000)),
        "TOML nesting": "a = " + "[" * 20_000,
        "TOML dots": ".".join(["a"] * 20_000) + " = 1",
        "NUL": "\0" * 1_000_000,
    }


# -- parsers: each takes a text in a file of its own ---------------------------------------------


def front_matter(path: Path) -> None:
    from ltm.files.atomic import read_plain
    from ltm.kinds import Kinds
    from ltm.vault.codec import decode
    from ltm.vault.frontmatter import parse
    from ltm.vault.vault import MAX_FILE

    data = read_plain(str(path), limit=MAX_FILE)
    decode(parse(data, "m.md"), "m.md", Kinds(), seen=datetime(2026, 1, 1, tzinfo=UTC))


def config(path: Path) -> None:
    from ltm.config.config import load

    path.rename(path.with_name("config.toml"))
    load(str(path.parent))


def transcript(path: Path) -> None:
    from ltm.sessions.transcript import read

    for _ in read(str(path)):
        pass


def said_in_a_transcript(path: Path) -> None:
    """The text as what a user said, read, redacted, cut and listened to as after any session."""
    from ltm.history.split import Cutter
    from ltm.kinds import Kinds
    from ltm.notes.outline import outline_of
    from ltm.sessions.transcript import read

    text = path.read_text(errors="replace")[:200_000]
    entry = {"type": "user", "uuid": "u-1", "message": {"role": "user", "content": text}}
    log = path.with_suffix(".jsonl")
    log.write_text(json.dumps(entry) + "\n")
    outline_of(read(str(log)).messages(), "s", Kinds())
    cutter = Cutter("", None)
    for turns in read(str(log)).messages():
        list(cutter.cut(turns))


def event(path: Path) -> None:
    from ltm.clients.wire import understand
    from ltm.files.fastjson import read_object

    understand(read_object(path.read_bytes().decode("utf-8", "surrogateescape")))


def question(path: Path) -> None:
    from ltm.recall.rank import understood

    understood(path.read_text(errors="replace"), date(2026, 1, 1))


MOST = 500_000
"""Characters that are redacted at once; it is the same work for each of them."""


def redaction(path: Path) -> None:
    from ltm.redact.redact import redact

    redact(path.read_text(errors="replace")[:MOST])


def merge_driver(path: Path) -> None:
    from ltm.files.atomic import read_plain
    from ltm.vault.merge import merge

    data = read_plain(str(path), limit=2 << 20)
    good = f"{GOOD}---\nbody\n".encode()
    merge(good, data, good, "m.md")
    merge(good, data, data + b"x", "m.md")


def imports(path: Path) -> None:
    from ltm.errors import LtmError
    from ltm.kinds import Kinds
    from ltm.transfer.importer import IMPORTERS
    from ltm.transfer.source import USUAL, Origin

    folder = path.parent / "old"
    for name in (
        ".memory/state.json",
        ".claude/memory/facts.json",
        ".claude/ltm/index.json",
        "memory.jsonl",
        "MEMORY.md",
        "note.md",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(path.read_bytes()[: 1 << 20])
    with Origin(str(folder), USUAL) as origin:
        for importer in IMPORTERS:
            try:
                list(importer.module.read(origin, Kinds()))
            except LtmError:
                continue


def model_answer(path: Path) -> None:
    from ltm.llm.backend import array_in, object_in
    from ltm.llm.model import LONGEST

    text = path.read_text(errors="replace")[:LONGEST]
    for read in (array_in, object_in):
        try:
            read(text)
        except Exception as error:
            if type(error).__name__ != "BadAnswer":
                raise


PARSERS: dict[str, Callable[[Path], None]] = {
    each.__name__: each
    for each in (
        front_matter,
        config,
        transcript,
        said_in_a_transcript,
        event,
        question,
        redaction,
        merge_driver,
        imports,
        model_answer,
    )
}

_RUN = """
import json, resource, sys
from pathlib import Path
from ltm.errors import LtmError
from tests.security.test_parsers import PARSERS
parse, top = PARSERS[sys.argv[1]], Path(sys.argv[2])
def used():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    # Not its ru_maxrss, which a process inherits from who started it.
    status = Path("/proc/self/status").read_text()
    most = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    return usage.ru_utime + usage.ru_stime, most
def tried(path):
    try:
        parse(path)
    except (LtmError, OSError):
        pass
found = {}
for trap in ["warm", *sorted(each.name for each in top.iterdir() if each.name != "warm")]:
    before = used()
    tried(top / trap / "m")
    after = used()
    found[trap] = [after[0] - before[0], after[1] - before[1]]
del found["warm"]
print(json.dumps(found))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("name", PARSERS)
def test_no_trap_takes_more_than_a_second_or_100_mb(name: str) -> None:
    """All traps in one process, smallest first, so that what a trap adds to the most is its own."""
    traps = sorted(hostile(50_000_000 if name in WHOLE else 1_000_000).items(), key=_size)
    with tempfile.TemporaryDirectory(prefix="ltm-parser-") as top:
        for place, text in [
            ("warm", "nothing"),
            *((f"{n:02}", t) for n, (_, t) in enumerate(traps)),
        ]:
            path = Path(top, place, "m")
            path.parent.mkdir()
            path.write_bytes(text.encode())
        done = subprocess.run(
            [sys.executable, "-c", _RUN, name, top],
            cwd=Path(__file__).parents[2],
            env={"HOME": top, "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-2_000:]
    found = {traps[int(place)][0]: each for place, each in json.loads(done.stdout).items()}
    slow = {trap: each for trap, each in found.items() if each[0] > 1 or each[1] > 100}
    count("S6", traps=len(found), too_slow_or_large=len(slow), uncaught=0)
    for seconds, megabytes in found.values():
        worst("S6", slowest_s=round(seconds, 2), most_mb=round(megabytes))
    assert slow == {}


WHOLE = ("front_matter", "config", "merge_driver")
"""Parsers of files that have a limit, who must not read more than that; others are streams, or are
given their text by somebody who holds it already."""


def _size(trap: tuple[str, str]) -> int:
    return len(trap[1])
