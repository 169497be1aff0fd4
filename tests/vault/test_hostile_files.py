"""Broken and hostile files: each is told with its line, none crashes, none takes long.

The traps are those of reliability R11 and S6 that concern a file's bytes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from ltm.errors import BadFile
from ltm.model import Memory
from ltm.vault.codec import decode, to_bytes
from ltm.vault.frontmatter import MAX_FRONT, parse
from ltm.vault.vault import MAX_FILE
from tests.vault.strategies import KINDS, memory

GOOD = "id: mem_abc12345\ntitle: x\n"

_BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(9)
)

TRAPS: dict[str, tuple[bytes | str, int | None, str]] = {
    "empty": (b"", None, "empty"),
    "one newline": ("\n", 1, "does not begin with front matter"),
    "no front matter": ("# Just Markdown\n", 1, "does not begin with front matter"),
    "front matter that never ends": ("---\nid: mem_abc12345\n", 1, "no end"),
    "only an opening": ("---", 1, "no end"),
    "NUL": ("---\nid: mem_abc12345\ntitle: a\0b\n---\n", 3, "NUL"),
    "UTF-16": ("---\nid: mem_abc12345\n".encode("utf-16"), 1, "NUL"),
    "invalid UTF-8": (b"---\nid: mem_abc12345\n---\n\nok\n\xff\xfe\n", 6, "not UTF-8"),
    "surrogate in UTF-8": (b"---\ntitle: \xed\xa0\x80\n---\n", 2, "not UTF-8"),
    "invalid UTF-8 after a BOM": (b"\xef\xbb\xbf---\n\xff\n---\n", 2, "not UTF-8"),
    "one byte too large": (b"---\n---\n" + b"x" * (MAX_FILE - 7), None, "larger than"),
    "50 MB": (b"---\n" + b"a: b\n" * 10_000_000, None, "larger than"),
    "front matter too long": (f"---\na: {'x' * MAX_FRONT}\n---\n", 1, "longer than"),
    "front matter too long and open": (f"---\na: {'x' * MAX_FRONT * 2}\n", 1, "longer than"),
    "alias bomb": (f"---\n{_BOMB}---\n", 2, "anchors"),
    "alias": (f"---\n{GOOD}tags: *a\n---\n", 4, "aliases"),
    "anchor": (f"---\n{GOOD}tags: &a [b]\n---\n", 4, "anchors"),
    "anchor in an unknown key": (f"---\n{GOOD}own:\n  deep: &a b\n---\n", 5, "anchors"),
    "tag": (f"---\n{GOOD}state: !!python/object:os.system x\n---\n", 4, "tags"),
    "tag on a list": (f"---\n{GOOD}tags: !!set [a]\n---\n", 4, "tags"),
    "merge key": (f"---\n{GOOD}base: &b {{x: y}}\n<<: *b\n---\n", 4, "anchors"),
    "100,000 brackets": (f"---\na: {'[' * 100_000}\n---\n", 1, "longer than"),
    "as many brackets as fit": (f"---\n{GOOD}own: {'[' * 60_000}\n---\n", 4, "nest deeper"),
    "as many braces as fit": (f"---\n{GOOD}own: {'{a: ' * 15_000}\n---\n", 4, "nest deeper"),
    "as many dashes as fit": (f"---\n{GOOD}own:\n  {'- ' * 30_000}\n---\n", 5, "nest deeper"),
    "as many question marks as fit": (f"---\n{'? ' * 30_000}\n---\n", 2, "key"),
    "nested list in a known key": (f"---\n{GOOD}tags: [[a]]\n---\n", 4, "nested value"),
    "map in a known key": (f"---\n{GOOD}reason: {{a: b}}\n---\n", 4, "nested value"),
    "block map in a known key": (f"---\n{GOOD}reason:\n  a: b\n---\n", 4, "nested value"),
    "bad YAML": (f"---\n{GOOD}reason: 'open\n---\n", 5, "not valid YAML"),
    "colon in a plain title": ("---\ntitle: He said: hi\n---\n", 2, "not valid YAML"),
    "tab as indent": (f"---\n{GOOD}tags:\n\t- a\n---\n", 5, "not valid YAML"),
    "list instead of keys": ("---\n- a\n- b\n---\n", 2, "not a list of keys"),
    "text instead of keys": ("---\njust words\n---\n", 2, "not a list of keys"),
    "flow map instead of lines": ("---\n{id: mem_abc12345}\n---\n", 2, "not a list of keys"),
    "indented keys": ("---\n  id: mem_abc12345\n---\n", 2, "does not start its line"),
    "explicit key": ("---\n? id\n: mem_abc12345\n---\n", 2, "does not start its line"),
    "list as a key": ("---\n[a]: b\n---\n", 2, "a key must be a plain word"),
    "two documents": (f"---\n{GOOD}--- x\n---\n", 4, "more than one YAML document"),
    "document end": (f"---\n{GOOD}...\n---\n", 4, "ends before its last line"),
    "directive": ("---\n%YAML 1.1\n---\n", None, ""),
    "escaped NUL": (f'---\n{GOOD}reason: "a\\0b"\n---\n', 4, "not text"),
    "escaped surrogate": (f'---\n{GOOD}reason: "\\ud800"\n---\n', 4, ""),
    "control character": (f"---\n{GOOD}reason: a\x1bb\n---\n", 4, "U+001B"),
    "line separator": (f"---\n{GOOD}reason: a\u2028b\n---\n", 4, "U+2028"),
    "lone carriage return": (f"---\n{GOOD}reason: a\rb: c\n---\n", 4, "U+000D"),
    "conflict in the front matter": (
        f"---\n{GOOD}<<<<<<< HEAD\nimpact: low\n=======\nimpact: high\n>>>>>>> other\n---\n",
        4,
        "unfinished merge",
    ),
    "conflict around the front matter": (
        "<<<<<<< HEAD\n---\nid: a\n=======\n---\nid: b\n>>>>>>> other\n---\n",
        1,
        "unfinished merge",
    ),
    "conflict in the body": (
        f"---\n{GOOD}---\nx\n<<<<<<< HEAD\na\n||||||| base\nb\n=======\nc\n>>>>>>> other\n",
        6,
        "unfinished merge",
    ),
    "conflict with CRLF": (
        f"---\n{GOOD}---\n<<<<<<< HEAD\na\n=======\nc\n>>>>>>> other\n".replace("\n", "\r\n"),
        5,
        "unfinished merge",
    ),
    "conflict across the two": (
        "---\n<<<<<<< HEAD\nid: a\n---\nx\n=======\nid: b\n---\ny\n>>>>>>> other\n",
        2,
        "unfinished merge",
    ),
}


def load(data: bytes) -> Memory:
    return decode(parse(data, "m.md"), "m.md", KINDS, seen=memory().created)


def refusal(data: bytes | str) -> BadFile:
    with pytest.raises(BadFile) as caught:
        load(data.encode() if isinstance(data, str) else data)
    return caught.value


@pytest.mark.parametrize("name", TRAPS)
def test_a_broken_file_is_told_with_its_line_and_a_way_out(name: str) -> None:
    data, line, says = TRAPS[name]
    error = refusal(data)
    assert says in error.message
    if line is not None:
        assert error.line == line
    assert error.path == "m.md"
    assert error.hint


@pytest.mark.parametrize("name", TRAPS)
def test_the_parser_without_libyaml_refuses_the_same_files(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(yaml, "CBaseLoader")
    data, line, _ = TRAPS[name]
    error = refusal(data)
    if line is not None:
        assert error.line == line


ODD = [
    "tags: []\ntags: [a]\ntags: b\n",  # duplicate keys, as a union merge leaves them
    "title: one\ntitle: two\nid: mem_other123\n",
    f"observations: {'9' * 5000}\n",  # huge integer
    f"version: {'1' * 60_000}\n",
    f"confidence: 1e{'9' * 400}\n",
    f"title: {'a' * 60_000}\n",
    f"title: '{' ' * 60_000}x'\n",  # text that makes careless patterns backtrack
    f"tags: [{', '.join(['t'] * 10_000)}]\n",
    f"own: {'[' * 6}{']' * 6}\n",
    "".join(f"k{place}: v\n" for place in range(5000)),
    "a:\n" * 15_000,
    "".join(f"title: {place}\n" for place in range(5000)),
    "".join(f"tags: [{place}, {place}]\n" for place in range(3000)),
]


@pytest.mark.parametrize("front", ODD, ids=lambda front: f"{front[:12]!r}")
def test_an_odd_file_that_can_be_understood_is_understood(front: str) -> None:
    assert load(f"---\n{GOOD}{front}---\n".encode()).id.startswith("mem_")


@pytest.mark.parametrize(
    "body",
    ["#" * 500_000, "\n" * 500_000, " \n" * 250_000, "## Content " + " " * 500_000 + "x",
     "\\" * 500_000, "---" + " " * 500_000 + "x", "a. " * 160_000, "=======\n" * 60_000],
    ids=lambda body: f"{body[:8]!r}",
)  # fmt: skip
def test_a_body_made_to_trip_patterns_is_read(body: str) -> None:
    found = load(f"---\n{GOOD}---\n{body}".encode())
    assert load(to_bytes(found)) == found


def test_every_trap_takes_less_than_a_second_and_little_memory() -> None:
    """S6: 1 s of processor time and 100 MB for each."""
    code = textwrap.dedent(
        """
        import resource, sys, tracemalloc
        from tests.vault.test_hostile_files import GOOD, ODD, TRAPS, load
        from ltm.errors import BadFile
        load(f"---\\n{GOOD}---\\n".encode())  # what the first call loads is not the trap's
        files = {name: trap[0] for name, trap in TRAPS.items()}
        for front in ODD:
            files[front[:12]] = f"---\\n{GOOD}{front}---\\n{'A line of text.' * 60_000}"
        for name, data in files.items():
            data = data.encode() if isinstance(data, str) else data
            before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
            tracemalloc.start()
            try:
                load(data)
            except BadFile:
                pass
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
            if peak > 100 * 2**20 or spent > 1:
                sys.exit(f"{name}: {spent:.2f} s of CPU, {peak / 2**20:.0f} MiB")
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=_ROOT, check=False
    )
    assert done.returncode == 0, done.stderr


_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_VALID = to_bytes(memory(tags=("a", "b"), reason='He said "hi": 42'))
_BITS = st.sampled_from(
    (
        *(b"\0", b"\xff", b"\xef\xbb\xbf", b"---\n", b"\n", b"\r", b": ", b"[", b"]", b"{", b"&a "),
        *(b"*a", b"!t ", b"? ", b"- ", b'"', b"'", b"|\n", b"%", b"\t", b"#", b"<<<<<<< a\n"),
        *(b"=======\n", b">>>>>>> b\n", b"\\", b"\xc2\x85", b"\xe2\x80\xa8", b"...\n", b"id: x\n"),
    )
)


@given(
    st.lists(
        st.tuples(st.integers(0, len(_VALID)), st.integers(0, 12), st.one_of(_BITS, st.binary())),
        max_size=6,
    )
)
@example([(0, len(_VALID), b"")])
def test_a_damaged_file_raises_nothing_but_bad_file(damage: list[tuple[int, int, bytes]]) -> None:
    data = _VALID
    for place, length, put in damage:
        data = data[:place] + put + data[place + length :]
    try:
        found = load(data)
    except BadFile:
        return
    assert parse(data, "m.md").to_bytes() == data
    assert load(to_bytes(found)) == found


@given(st.binary())
def test_random_bytes_raise_nothing_but_bad_file(data: bytes) -> None:
    for prefix in (b"", b"---\n"):
        try:
            load(prefix + data + b"\n---\n")
        except BadFile:
            continue
