"""What is explained, corrected and fails again, with and without LTM. `python -m benchmarks.effect`

Each project of `projects/*.toml` is a row of sessions. In some of their steps the agent needs to
know something: it is explained by the user when the agent asks (explanation), it is what the user
says after the agent did otherwise (correction), or it is how a command is called that fails
otherwise (error). The agent is scripted and forgetful: of the sessions before it knows nothing. It
does the right thing at once if what it was told at the start of the session, or what this session
said, has the words of the answer; else, where it may ask memory, it asks it one question, which
has none of them; else it asks the user, does it wrong, or runs the command that fails.

The first time is nobody's fault. What counts is each further one: repeated explanations, repeated
corrections, repeated errors. Everything in between is real: hook processes are told the events, the
transcript is what Claude Code writes, a drain learns from it, `ltm recall` answers.

    python -m benchmarks.effect              # the table
    python -m benchmarks.effect --show       # each step, and where the answer came from
    python -m benchmarks.effect --json FILE
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.capture.script import Script, Step
from benchmarks.capture.writing import Transcript
from benchmarks.report import keep, table
from ltm.hook import main as hook

PROJECTS = Path(__file__).with_name("projects")
WITHOUT, START, ASKING = "without memory", "told at the start", "told, and asks memory"
WAYS = (WITHOUT, START, ASKING)
SORTS = ("explanation", "correction", "error")
_HITS = 5


@dataclass(frozen=True)
class Need:
    """Something an agent must know, and what happens when it does not."""

    id: str
    sort: str
    ask: str
    """What it asks memory."""
    known: tuple[str, ...]
    """Words of the answer: an agent that has read them all knows."""
    given: dict[str, str]

    def without(self) -> list[Step]:
        """What happens when it does not know."""
        given = self.given
        if self.sort == "explanation":
            return [Step("<", given["asks"]), Step(">", given["said"]), Step("<", "Thanks.")]
        if self.sort == "correction":
            return [Step("<", given["wrong"]), Step(">", given["said"]), Step("<", given["done"])]
        return [
            Step("$", given["wrong"], given["failed"].splitlines(), failed=True),
            Step("<", given["tries"]),
            Step("$", given["fix"], given["passed"].splitlines()),
        ]

    def knowing(self) -> list[Step]:
        """What happens when it does: of what it knows it says nothing that could be learned."""
        if self.sort == "error":
            return [Step("$", self.given["fix"], self.given["passed"].splitlines())]
        return [Step("<", "I did it the way you do it here.")]


@dataclass
class Project:
    """A row of sessions."""

    name: str
    needs: dict[str, Need]
    sessions: list[dict[str, Any]]


@dataclass
class Outcome:
    """What a project took of its user."""

    first: Counter[str] = field(default_factory=Counter)
    repeated: Counter[str] = field(default_factory=Counter)
    tokens: list[int] = field(default_factory=list)
    asked: int = 0
    lines: list[str] = field(default_factory=list)


def read(path: Path) -> Project:
    """A project from its file."""
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    needs = {
        each["id"]: Need(each["id"], each["as"], each["ask"], tuple(each["known"]), each)
        for each in found["need"]
    }
    for need in needs.values():
        assert need.sort in SORTS, need.id
        assert need.known[0].lower() not in need.ask.lower(), f"{need.id} asks with the answer"
    return Project(found["name"], needs, found["session"])


class Machine:
    """A machine with LTM on it, and one repository."""

    def __init__(self, top: Path, project: Project) -> None:
        self.folder = top / project.name
        self.folder.mkdir()
        self.transcripts = top / "transcripts"
        self.environ = {
            **{"PATH": os.environ["PATH"], "HOME": str(top), "LTM_HOME": str(top / "ltm")},
            **{"TMPDIR": str(top), "PYTHONPATH": os.pathsep.join(sys.path)},
        }
        subprocess.run(["git", "init", "-q", str(self.folder)], check=True)

    def hook(self, event: str, session: str, **more: str) -> str:
        """Tell an event as a client does; the text for the session."""
        path = str(self.transcripts / f"{session}.jsonl")
        about = {"session_id": session, "transcript_path": path, "cwd": str(self.folder)}
        done = subprocess.run(
            [sys.executable, "-I", "-S", hook.__file__],
            input=json.dumps({**about, "hook_event_name": event, **more}),
            env=self.environ,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=True,
        )
        told = json.loads(done.stdout) if done.stdout else {}
        return str(told.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def ltm(self, *words: str) -> str:
        """What a command prints."""
        return subprocess.run(
            [sys.executable, "-m", "ltm", *words],
            env=self.environ,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    def recall(self, question: str) -> str:
        """The best hits, as an agent reads them."""
        said = json.loads(self.ltm("recall", question, "--json", "--limit", str(_HITS)))
        return "\n".join(hit["text"] for hit in said["hits"])

    def write(self, script: Script) -> None:
        """The transcript of a session, of this folder."""
        path = self.transcripts / f"{script.name}.jsonl"
        Transcript(script, path)
        text = path.read_text(encoding="utf-8")
        here = json.dumps(str(self.folder))
        path.write_text(text.replace(json.dumps(f"/src/{script.name}"), here), encoding="utf-8")


def step_of(line: str) -> Step:
    """A step as it stands in a project's file."""
    mark, _, text = line.partition(" ")
    return Step("@", line[1:]) if line.startswith("@") else Step(mark, text)


def has(text: str, words: Sequence[str]) -> bool:
    """Whether a text has all of these words, each as a whole."""
    return all(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.I) for word in words)


def work(project: Project, way: str) -> Outcome:
    """All sessions of a project, one after the other."""
    done = Outcome()
    seen: set[str] = set()
    with tempfile.TemporaryDirectory(prefix="ltm-effect-") as top:
        machine = Machine(Path(top), project)
        for number, session in enumerate(project.sessions, start=1):
            name = f"{project.name}-{number}"
            told = "" if way == WITHOUT else machine.hook("SessionStart", name, source="startup")
            done.tokens.append(len(told) // 4)
            script, said = Script(name, "", ""), told
            for line in session["steps"]:
                if not line.startswith("need "):
                    if line.startswith("| "):
                        script.steps[-1].output += line[2:].split("\\n")
                    else:
                        script.steps.append(step_of(line))
                    continue
                need = project.needs[line.removeprefix("need ")]
                source = "the session" if has(said, need.known) else ""
                if source and has(told, need.known):
                    source = "the start"
                if not source and way == ASKING:
                    done.asked += 1
                    found = machine.recall(need.ask)
                    said += f"\n{found}"
                    source = "recall" if has(found, need.known) else ""
                steps = need.knowing() if source else need.without()
                script.steps += steps
                said += "".join(f"\n{step.text}" for step in steps)
                if not source:
                    (done.repeated if need.id in seen else done.first)[need.sort] += 1
                again = " again" if need.id in seen else ""
                done.lines.append(f"{name}  {need.id}: {source or need.sort + again}")
                seen.add(need.id)
            machine.write(script)
            if way != WITHOUT:
                machine.hook("Stop", name)
                machine.hook("SessionEnd", name, reason="exit")
                machine.ltm("drain")
    return done


def main() -> None:
    """Work through all projects in every way, and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.effect")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    projects = [read(path) for path in sorted(PROJECTS.glob("*.toml"))]
    rows, figures = [], {}
    for way in WAYS:
        outcomes = [work(project, way) for project in projects]
        if given.show:
            print(f"== {way}", *(line for each in outcomes for line in each.lines), sep="\n")
        first = sum((each.first for each in outcomes), Counter[str]())
        repeated = sum((each.repeated for each in outcomes), Counter[str]())
        tokens = [each for outcome in outcomes for each in outcome.tokens]
        figures[way] = {
            "first": first.total(),
            **{f"repeated {sort}s": repeated[sort] for sort in SORTS},
            "repeated": repeated.total(),
            "tokens a session": round(sum(tokens) / len(tokens)),
            "questions to memory": sum(each.asked for each in outcomes),
        }
        rows.append([way, *figures[way].values()])
    table("Sessions with and without memory", ["agent", *figures[WITHOUT]], rows)
    keep(given.json, "effect", figures)


if __name__ == "__main__":
    main()
