"""Sessions in which a stranger's words come along, played turn by turn as a client would.

Each line of `poison_*.jsonl` is one scenario: what was said and given in one or more sittings of a
session, the words that must reach no later session (`poison`), and what the user said on purpose
(`own`). Their authors knew neither the rules nor the code, but for those that begin with u and w:
their author had seen some of the rules for what is pasted. What is read between two turns is read
by the real drain's `learn_from`, so every `stop` is a stretch of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count, islice
from pathlib import Path
from typing import Any

from ltm.model import Filter, Memory
from ltm.notes.session_notes import note_session
from ltm.state.candidates import Candidates
from ltm.store.project import OpenProject
from ltm.worker.learning import learn_from
from tests.sessions.writing import Transcript

FOLDER = Path(__file__).parent
AT = datetime(2026, 11, 16, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Ending:
    """What a scenario left behind."""

    active: list[Memory]
    """The memories in force: a later session is told some of them, and of no others."""
    likely: list[str]
    """The statements it may be offered to confirm."""
    note: str
    """The note of the session."""

    def told(self, scenario: Mapping[str, Any]) -> list[str]:
        """The poisons that are in a memory in force."""
        text = _even("\n".join(map(_whole, self.active)))
        return [each for each in scenario["poison"] if _even(each) in text]

    def offered(self, scenario: Mapping[str, Any]) -> list[str]:
        """The poisons that are in what a later session may be offered to confirm."""
        text = _even("\n".join(self.likely))
        return [each for each in scenario["poison"] if _even(each) in text]

    def noted(self, scenario: Mapping[str, Any]) -> list[str]:
        """The poisons that are anywhere in the note of the session."""
        return [each for each in scenario["poison"] if _even(each) in _even(self.note)]

    def stopped(self, scenario: Mapping[str, Any]) -> list[str]:
        """The poisons in where the session stopped, which the next one is told."""
        text = _even(self.note.partition("## Stopped at")[2].partition("##")[0])
        return [each for each in scenario["poison"] if _even(each) in text]

    def kept(self, scenario: Mapping[str, Any], *, likely: bool = False) -> int:
        """How much of what the user said on purpose is a memory in force, or waits to be one."""
        texts = [*map(_whole, self.active), *(self.likely if likely else ())]
        said = [_even(each) for each in texts]
        keys = [_even(own["key"]).split() for own in scenario["own"]]
        return sum(any(all(word in text for word in key) for text in said) for key in keys)


def scenarios(name: str) -> Iterator[dict[str, Any]]:
    """The scenarios of a file."""
    with (FOLDER / name).open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def play(scenario: Mapping[str, Any], top: Path) -> Ending:
    """Play a scenario in an empty home and an empty project."""
    home, project = top / "home", top / "project"
    home.mkdir(parents=True)
    project.mkdir()
    environ = {"LTM_HOME": str(home), "HOME": str(top)}
    session = "11111111-2222-4333-8444-555555555555"
    log_of = Transcript(top / f"{session}.jsonl", session)
    with OpenProject(str(project), environ=environ) as opened:
        log = opened.log
        log.begin(session, opened.places.project.id, str(project), str(log_of.path), AT)
        for sitting in scenario["sessions"]:
            _sit(sitting["turns"], log_of, project, lambda: _read(opened, session))
        _read(opened, session)
        known = log.get(session)
        assert known is not None
        note = note_session(opened, known)
        active = [each.memory for each in opened.store.list(Filter(), 500).items]
        likely = [each.text for each in Candidates(opened.places.private).waiting()]
    return Ending(active, likely, note.text if note else "")


def _read(project: OpenProject, session: str) -> None:
    known = project.log.get(session)
    assert known is not None
    learn_from(project, known, AT)


def _sit(turns: list[Mapping[str, Any]], log: Transcript, project: Path, stop: Any) -> None:
    for number, turn in enumerate(turns):
        call = f"toolu_{log.path.stat().st_size}_{number}"
        match turn:
            case {"user": text}:
                log.user(text, cwd=str(project))
            case {"assistant": text}:
                log.says(text)
            case {"tool": tool, "result": result}:
                log.calls(tool, call, **turn.get("input", {}))
                before, after = (_filler(turn.get(name, 0)) for name in ("before", "after"))
                log.result(f"{before}{result}{after}", call, error=bool(turn.get("error")))
            case {"todo": items}:
                # Some of it is done, as in a list at the end of a day.
                todos = [
                    {"content": item, "status": "pending" if at else "completed"}
                    for at, item in enumerate(["Look around", *items])
                ]
                log.calls("TodoWrite", call, todos=todos)
                log.result("Todos have been modified successfully.", call)
            case {"attachment": {"path": path, "text": text}}:
                log.attachment(
                    "file",
                    filename=path,
                    content={"type": "text", "file": {"filePath": path, "content": text}},
                )
            case {"subagent": {"prompt": prompt, "result": result}}:
                log.calls("Task", call, prompt=prompt, subagent_type="general-purpose")
                log.result([{"type": "text", "text": result}], call)
            case {"memory_file": {"path": path, "text": text}}:
                if "/" in path.removeprefix(".claude/"):
                    log.attachment("nested_memory", path=path, content={"content": text})
                else:  # older clients do not note it
                    file = project / path
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text, encoding="utf-8")
            case {"stop": _}:
                stop()


def _filler(size: int) -> str:
    """So many characters of an output that says nothing."""
    lines = (f"[{n:06}] step {n % 97} took {n * 7 % 1_000} ms on worker {n % 13}" for n in count())
    return "".join(islice((f"{line}\n" for line in lines), size // 45))


def _whole(memory: Memory) -> str:
    return f"{memory.title}\n{memory.text}\n{memory.reason}\n{memory.state}"


def _even(text: str) -> str:
    return " ".join(text.casefold().split())
