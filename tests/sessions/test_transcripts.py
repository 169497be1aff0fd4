"""Transcripts of several readers: each sees what a reading of its own would show it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.sessions import sources
from ltm.sessions.transcript import Cursor, Lines, Transcripts, cursor_of, origin, read


def line(number: int, pad: int = 0) -> bytes:
    entry = {
        "type": "user",
        "uuid": f"u{number}",
        "cwd": "/p",
        "timestamp": "2026-11-18T00:00:00Z",
        "message": {"role": "user", "content": f"words {number} {'x' * pad}"},
    }
    return json.dumps(entry).encode() + b"\n"


def turns(path: Path, cursor: Cursor, **source: object) -> tuple[list[str], Cursor]:
    reading = read(str(path), cursor, **source)  # type: ignore[arg-type]
    return [turn.text for turn in reading if hasattr(turn, "text")], reading.cursor


@pytest.fixture
def transcripts() -> Iterator[Transcripts]:
    with closing(Transcripts()) as opened:
        yield opened


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["append", "half", "blank", "long", "broken", "anew", "read", "other"]),
            st.integers(0, 2),
        ),
        max_size=30,
    ),
    st.sampled_from([0, 900, 5_000, 1 << 20]),
)
def test_readers_see_what_they_would_see_alone(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]], most: int
) -> None:
    path = tmp_path_factory.mktemp("t") / "s.jsonl"
    other = path.with_name("o.jsonl")
    other.write_bytes(line(1_000))
    path.write_bytes(b"")
    cursors = [Cursor(), Cursor(), Cursor()]
    with closing(Transcripts(most)) as transcripts:
        for number, (step, reader) in enumerate(steps):
            with path.open("ab") as file:
                match step:
                    case "append":
                        file.write(line(number))
                    case "half":  # a line that is complete without its end, or a part of one
                        file.write(line(number)[: -1 if reader else 40])
                    case "blank":
                        file.write(b" \n\n")
                    case "long":
                        file.write(line(number, pad=700))
                    case "broken":
                        file.write(b"{]\n")
            if step == "anew":
                path.write_bytes(line(number) * 2)
            elif step == "other":
                turns(other, Cursor(), lines=transcripts.lines)
            elif step == "read":
                alone = turns(path, cursors[reader])
                assert turns(path, cursors[reader], lines=transcripts.lines) == alone
                cursors[reader] = cursor_of(alone[1].text())


def test_each_line_is_read_once_for_all(tmp_path: Path, transcripts: Transcripts) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"".join(map(line, range(20))))
    middle = Lines(str(path))
    for _ in zip(range(10), middle, strict=False):
        pass
    opened = []
    real = os.open

    def counting(name: str, *rest: int) -> int:
        opened.append(name)
        return real(name, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", counting)
        assert len(turns(path, middle.cursor, lines=transcripts.lines)[0]) == 10
        opened.clear()  # `middle` opens the file to make its cursor
        assert origin(str(path), transcripts.lines).cwd == "/p"
        assert len(turns(path, Cursor(), lines=transcripts.lines)[0]) == 20
        assert len(turns(path, Cursor(), lines=transcripts.lines)[0]) == 20
    assert opened == []
    parsed = [transcripts.lines(str(path)) for _ in range(2)]
    first, second = ([each.turns(data) for data in each] for each in parsed)
    assert all(one is other for one, other in zip(first, second, strict=True))


def test_a_reader_inside_another_disturbs_neither(tmp_path: Path, transcripts: Transcripts) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"".join(map(line, range(9))))
    outer = iter(transcripts.lines(str(path)))
    begun = [next(outer) for _ in range(3)]
    inner = list(transcripts.lines(str(path)))
    assert [*begun, *outer] == inner == list(Lines(str(path)))


def test_what_is_held_is_what_stands_in_the_file(
    tmp_path: Path, transcripts: Transcripts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line without its end may go on, and one that is too long is passed over by each."""
    monkeypatch.setattr(sources, "LONGEST", 500)
    path = tmp_path / "s.jsonl"
    path.write_bytes(line(0)[:-1])
    assert turns(path, Cursor(), lines=transcripts.lines)[0] == ["words 0"]
    for more, expected in ((line(1), []), (line(2, pad=9_000) + line(3), ["words 3"])):
        with path.open("ab") as file:
            file.write(more)
        for _ in range(2):
            reading = read(str(path), Cursor(), lines=transcripts.lines)
            assert [turn.text for turn in reading if hasattr(turn, "text")] == expected
            assert reading.unreadable == 1 + len(expected)
