"""Sessions written by hand, with what should be remembered of them: the `scripts/*.txt`.

Owns the notation, which README.md describes, and the split into sessions to tune on and sessions
held out.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SCRIPTS = Path(__file__).with_name("scripts")
LATER = SCRIPTS / "later"
"""Sessions written when the rules were there already, to see what they miss."""
FRESH = SCRIPTS / "fresh"
"""Further ones; `unseen.txt` and `seventh.txt` were written together with others and what the
rules make of them was never printed."""

_SEED = 20261115
_TUNED_ON = 0.6
_LABEL = re.compile(
    r"(?P<mark>[=?]) (?P<category>\w+) (?P<kinds>[\w/]+) : (?P<words>[^;]*)(?:;(?P<reason>.*))?\Z"
)


@dataclass(frozen=True, slots=True)
class Label:
    """Something worth remembering, and how to tell that a memory says it."""

    category: str
    kinds: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]
    """Each must be in the memory; where there are several, any of them."""
    reason: tuple[str, ...] = ()
    """Any of these is in the memory when it tells the reason; () = there was none."""
    wanted: bool = True
    """False when a memory of it is neither right nor wrong."""

    def __str__(self) -> str:
        return f"{self.category}: " + ", ".join("|".join(each) for each in self.words)


@dataclass(slots=True)
class Step:
    """One thing that happens in a session."""

    mark: str
    """Who acts: `>` user, `<` agent, `$` command, `@` tool, `/` command of the client, `~` rest."""
    text: str
    output: list[str] = field(default_factory=list)
    failed: bool = False
    labels: list[Label] = field(default_factory=list)


@dataclass(slots=True)
class Script:
    """One session."""

    name: str
    domain: str
    style: str
    steps: list[Step] = field(default_factory=list)

    @property
    def mechanical(self) -> bool:
        """Whether nothing in it is worth a memory: routine work, or orders that are nobody's."""
        return not any(step.labels for step in self.steps)


def read_all(folder: Path = SCRIPTS) -> list[Script]:
    """All sessions, in the order of their files."""
    scripts = [each for path in sorted(folder.glob("*.txt")) for each in read(path)]
    names = [script.name for script in scripts]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"two sessions have the same name: {', '.join(sorted(twice))}")
    return scripts


def read(path: Path) -> Iterator[Script]:
    """The sessions of one file."""
    script: Script | None = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("== "):
            if script is not None:
                yield script
            name, domain, style = (part.strip() for part in line[3:].split("|"))
            script = Script(name, domain, style)
        elif script is not None:
            try:
                _add(script.steps, line)
            except (ValueError, IndexError) as error:
                raise ValueError(f"{path.name}:{number}: cannot be read: {line}") from error
        elif line.strip():
            raise ValueError(f"{path.name}:{number}: stands before the first session")
    if script is not None:
        yield script


def split(scripts: list[Script]) -> tuple[list[Script], list[Script]]:
    """The sessions to tune on and those held out: the same ones every time.

    Sessions that must give nothing are split apart, so that each side has its share of them.
    """
    tuned: set[str] = set()
    for mechanical in (False, True):
        names = sorted(script.name for script in scripts if script.mechanical is mechanical)
        random.Random(_SEED).shuffle(names)
        tuned.update(names[: round(len(names) * _TUNED_ON)])
    return (
        [script for script in scripts if script.name in tuned],
        [script for script in scripts if script.name not in tuned],
    )


def _add(steps: list[Step], line: str) -> None:
    mark, rest = line[:1], line[1:].removeprefix(" ")
    if mark in (">", "<", "$", "@", "/", "~"):
        steps.append(Step(mark, rest))
    elif mark in ("|", "!"):
        steps[-1].output.append(rest)
        steps[-1].failed = mark == "!"
    elif mark in ("=", "?"):
        steps[-1].labels.append(_label(line))
    elif mark == " ":
        steps[-1].text += "\n" + line.removeprefix("  ")
    elif line:
        raise ValueError(line)


def _label(line: str) -> Label:
    found = _LABEL.match(line)
    if found is None:
        raise ValueError(line)
    words = (_any(word) for word in found["words"].split(","))
    return Label(
        category=found["category"],
        kinds=tuple(found["kinds"].split("/")),
        words=tuple(word for word in words if word),
        reason=_any(found["reason"] or ""),
        wanted=found["mark"] == "=",
    )


def _any(text: str) -> tuple[str, ...]:
    return tuple(word.strip().casefold() for word in text.split("|") if word.strip())
