"""Row R17, transcripts of any size and in any state: `python -m benchmarks.soak.transcripts`.

A transcript of 1 GiB, as `benchmarks.ingest` writes it, is given to the real `ltm capture`, again
three times, with half a line more and with the other half, and to the real `ltm drain`. A smaller
one is read in pieces cut anywhere and must leave what it leaves in one go. And transcripts that are
torn, truncated, rotated, replaced or full of bytes that are none of ours are read while that
happens: every message is kept, and none twice.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.ingest import write
from benchmarks.used import used_by
from ltm.history.ingest import keep_session
from ltm.model import now
from ltm.project.layout import places
from ltm.spool import events
from ltm.store.project import OpenProject
from ltm.worker.learning import begin, learn_from
from tests.figures import count, worst
from tests.sessions.writing import Transcript

SEED = 17
GIB = 1074
_MOST_MB = 100
_MOST_SECONDS = 60
_PIECES = 25
_ROUNDS = 12


class Home:
    """An empty home and a project in it, and what the real commands make of a transcript there."""

    def __init__(self, top: Path) -> None:
        self.home, self.project = top / "home", top / "project"
        self.project.mkdir(parents=True)
        self.environ = {**os.environ, "LTM_HOME": str(self.home), "HOME": str(top)}
        self.seconds = self.processor = self.peak = 0.0

    def run(self, *words: str) -> dict[str, object]:
        """What a command answers, and in the attributes what it took."""
        used = used_by(words, self.project, self.environ)
        self.seconds, self.processor = used.seconds, used.processor
        self.peak = max(self.peak, used.peak)
        return used.answer

    def read(self, transcript: Path, session: str) -> None:
        """The same in this process."""
        folder = str(self.project)
        with OpenProject(folder, environ=self.environ) as project:
            project_id = project.places.project.id
            known = begin(project.log, str(transcript), session, project_id, folder, "2026-11-15")
            learn_from(project, known, now())
            keep_session(project, known, now())

    def passages(self) -> list[tuple[object, ...]]:
        """What was kept word for word, in order."""
        path = places(str(self.project), environ=self.environ).sessions_db
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
            rows = db.execute(
                "SELECT turn, part, first, text FROM passages JOIN texts USING(row) ORDER BY row"
            ).fetchall()
        db.close()
        return rows


def large(top: Path, megabytes: int) -> bool:
    """1 GiB through the real commands; whether memory, time and what was kept are as promised."""
    transcript = top / "session.jsonl"
    write(transcript, megabytes)
    home = Home(top / "capture")
    first = home.run("capture", str(transcript))
    seconds, processor = home.seconds, home.processor
    again = 0
    for _ in range(3):
        again += _new(home.run("capture", str(transcript)))
    line = json.dumps(_prompt("the last one")).encode() + b"\n"
    with transcript.open("ab") as file:
        file.write(line[:-20])
        file.flush()
        half = _new(home.run("capture", str(transcript)))
        file.write(line[-20:])
    whole = home.run("capture", str(transcript))
    drained = Home(top / "drain")
    told = {"session": "session", "cwd": str(drained.project), "transcript": str(transcript)}
    for event in ("SessionStart", "Stop", "SessionEnd"):
        events.put(str(drained.home), {"event": event, **told}, drained.environ)
    drained.run("drain")
    differing = len(set(home.passages()) ^ set(drained.passages()))
    understood = _understood(transcript)
    figures = {
        "understood_seconds": understood,
        "capture_seconds": round(seconds, 1),
        "capture_processor_seconds": round(processor, 1),
        "drain_seconds": round(drained.seconds, 1),
        "capture_memory_mb": round(home.peak, 1),
        "drain_memory_mb": round(drained.peak, 1),  # with the vectors it makes, if it has a model
    }
    worst("R17", megabytes=megabytes, **figures)
    count(
        "R17",
        turns=int(str(first["turns"])),
        passages=int(str(first["passages"])),
        memories=len(first["added"]) if isinstance(first["added"], list) else 0,
        new_when_read_again=again,
        of_half_a_line=half,
        capture_and_drain_differ=differing,
    )
    print(f"{megabytes} MB: {figures}, again {again}, half {half}, differ {differing}")
    held = max(home.peak, drained.peak) <= _MOST_MB and seconds <= _MOST_SECONDS
    return held and not (again or half or differing) and whole["turns"] == 1


def _understood(transcript: Path) -> float:
    """Seconds of processor time to read it and to find all there is to learn, keeping nothing."""
    words = [sys.executable, "-m", "benchmarks.ingest", "--measure", "learn", str(transcript)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return round(float(done.stdout.split()[1]), 1)


def _new(answer: dict[str, object]) -> int:
    """What a capture found that was new: turns, passages, memories."""
    lists = (answer[name] for name in ("added", "superseded", "reinforced"))
    counted = sum(len(each) for each in lists if isinstance(each, list))
    return int(str(answer["turns"])) + int(str(answer["passages"])) + counted


def _prompt(text: str) -> dict[str, object]:
    return {
        "type": "user",
        "uuid": f"uuid of {text}",
        "timestamp": "2026-11-15T10:00:00.000Z",
        "message": {"role": "user", "content": text},
    }


def resumed(top: Path, megabytes: int) -> bool:
    """Whether a transcript read in pieces cut anywhere leaves what it leaves in one go."""
    chance = random.Random(SEED)
    whole, pieces = Home(top / "whole"), Home(top / "pieces")
    transcript, growing = top / "t.jsonl", top / "pieces" / "t.jsonl"
    write(transcript, megabytes)
    whole.read(transcript, "session")
    data = transcript.read_bytes()
    cuts = sorted(chance.randrange(len(data)) for _ in range(_PIECES - 1))
    for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        with growing.open("ab") as file:
            file.write(data[start:end])
        pieces.read(growing, "session")
    differing = len(set(whole.passages()) ^ set(pieces.passages()))
    twice = len(pieces.passages()) - len(set(pieces.passages()))
    count("R17", pieces=_PIECES, pieces_differ=differing, pieces_twice=twice)
    print(f"{_PIECES} pieces of {megabytes} MB: {differing} differ, {twice} twice")
    return not (differing or twice)


# -- what happens to files -----------------------------------------------------------------------


class Scene:
    """A transcript to which something happens, and the words of all messages that were in it."""

    def __init__(self, home: Home, name: str, chance: random.Random) -> None:
        self.home, self.name, self.chance = home, name, chance
        self.path = home.project / f"{name}.jsonl"
        self.words: list[str] = []

    def anew(self) -> Transcript:
        """Another transcript at the same path, with messages of its own."""
        self.path.unlink(missing_ok=True)
        return Transcript(self.path, f"{self.name}-{len(self.words):05d}")

    def say(self, transcript: Transcript, times: int = 20) -> None:
        """Add messages."""
        for _ in range(times):
            word = f"{self.name}{len(self.words):05d}"
            self.words.append(word)
            transcript.user(f"Please look at {word} once more and tell me.")

    def read(self) -> None:
        """Let it be read."""
        self.home.read(self.path, self.name)


def torn(scene: Scene) -> None:
    """Written in bits of any length, each read at once."""
    transcript = scene.anew()
    scene.say(transcript, 60)
    data, at = transcript.path.read_bytes(), 0
    transcript.path.write_bytes(b"")
    while at < len(data):
        end = at + scene.chance.randrange(1, 1_500)
        transcript.raw(data[at:end])
        at = end
        scene.read()


def truncated(scene: Scene) -> None:
    """Cut to nothing in place, and written anew."""
    for _ in range(_ROUNDS):
        transcript = Transcript(scene.path, f"{scene.name}-{len(scene.words):05d}")
        os.truncate(scene.path, 0)
        scene.say(transcript, scene.chance.randrange(1, 40))
        scene.read()


def rotated(scene: Scene) -> None:
    """Renamed away, and another begun in its place."""
    for number in range(_ROUNDS):
        transcript = scene.anew()
        scene.say(transcript, scene.chance.randrange(1, 40))
        scene.read()
        scene.path.rename(scene.path.with_suffix(f".{number}"))


def replaced(scene: Scene) -> None:
    """Another file with the same beginning, or with none of it, moved over it."""
    transcript = scene.anew()
    for number in range(_ROUNDS):
        scene.say(transcript)
        copy = scene.path.with_suffix(".new")
        copy.write_bytes(scene.path.read_bytes())
        os.replace(copy, scene.path)
        scene.read()
        if number % 3 == 2:
            transcript = scene.anew()


def same_size(scene: Scene) -> None:
    """Other words of the same length in the same file."""
    for _ in range(_ROUNDS):
        transcript = Transcript(scene.path, f"{scene.name}-{len(scene.words):05d}")
        os.truncate(scene.path, 0)
        scene.say(transcript)
        scene.read()


def foreign(scene: Scene) -> None:
    """A line of 64 MB, bytes that are no characters, NUL, halves of JSON, empty lines."""
    transcript = scene.anew()
    for junk in (
        b'{"type":"user","message":{"content":"' + b"x" * 64 * 1024 * 1024 + b'"}}\n',
        b"\0" * 4096 + b"\n",
        b'{"type":"user","uuid":"\xff\xfe","message":{"content":"\x00"}}\n',
        b"\xff\xfe\x80\n\n\r\n[]\n42\nnull\n",
        b'{"type":"user","message":\n',
        b"[" * 100_000 + b"\n",
    ):
        scene.say(transcript, 5)
        transcript.raw(junk)
        scene.say(transcript, 5)
        scene.read()


def replayed(scene: Scene) -> None:
    """The same again: by the same name, as a copy, and as the beginning of another session."""
    transcript = scene.anew()
    scene.say(transcript, 100)
    scene.read()
    for number in range(3):
        scene.read()
        fork = scene.path.with_name(f"{scene.name}-fork-{number}.jsonl")
        fork.write_bytes(scene.path.read_bytes())
        scene.say(Transcript(fork, f"fork-{number}"), 5)
        scene.home.read(fork, f"fork-{number}")


SCENES: tuple[Callable[[Scene], None], ...] = (
    torn,
    truncated,
    rotated,
    replaced,
    same_size,
    foreign,
    replayed,
)


def happens(top: Path) -> bool:
    """Let all of it happen; whether every message was kept, and once."""
    chance = random.Random(SEED)
    lost = twice = messages = 0
    for number, act in enumerate(SCENES):
        home = Home(top / act.__name__)
        scene = Scene(home, f"word{chr(97 + number)}", chance)
        act(scene)
        kept = Counter(_words_of(home))
        lost += sum(kept[word] == 0 for word in scene.words)
        twice += sum(kept[word] > 1 for word in scene.words)
        messages += len(scene.words)
        print(f"{act.__name__}: {len(scene.words)} messages, kept {len(kept)}")
    count("R17", messages=messages, messages_lost=lost, messages_twice=twice)
    return not (lost or twice)


def _words_of(home: Home) -> Iterator[str]:
    for *_, text in home.passages():
        yield from (word for word in str(text).split() if word.startswith("word"))


def main() -> None:
    """Read all of it, print, and fail if anything was lost, doubled or held for too long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=GIB)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ltm-transcripts-") as folder:
        top = Path(folder)
        held = [large(top, given.megabytes), resumed(top / "resumed", 10), happens(top / "happens")]
    sys.exit(not all(held))


if __name__ == "__main__":
    main()
