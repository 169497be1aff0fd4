"""The files of an analysis: `report.md`, `antigen_review.md` and five JSON files.

Each is replaced as a whole and readable by the user only, with a `.gitignore`, because they quote
what people typed. What users typed and tools printed may hold anything (terminal escapes, markup,
fences, our own markers), so it is escaped to stay text.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from ltm.config.options import SIGNALS
from ltm.errors import Refused
from ltm.files.atomic import is_inside, make_folder, read_plain, remove_file, write_file
from ltm.friction.analysis import Analysis
from ltm.friction.score import QUALITIES, Cluster, signal_counts, weigh
from ltm.state.corrections import Rule
from ltm.text.display import counted, one_line, visible

FOLDER = os.path.join(".claude", "friction")
"""Where the files are written inside a project."""

NAMES = (
    "friction_raw.jsonl",
    "friction_analysis.json",
    "friction_summary.json",
    "antigen_candidates.json",
    "antigen_clusters.json",
    "antigen_review.md",
    "report.md",
)
"""The files of an analysis."""

IGNORE = "# What people typed is quoted here: not for the repository.\n*\n"

# Made once: `json.dumps` makes one for each call that does not want plain ASCII.
_encode = json.JSONEncoder(ensure_ascii=False).encode
_LEVELS = (("low", 0, 15), ("medium", 15, 50), ("high", 50, None))
_SESSIONS = 20
_DAYS = 14
_BAR = 30
_SHOWN = 25
_ASKS_FOR = b"Inhibitory Instruction"
_MOST = 64 * 1024 * 1024
_MEANINGS = {
    "BAD": "ended in trouble",
    "FRICTION": "the user had to react",
    "ROUGH": "much failed, and the user did not complain",
    "ONE-SHOT": "one order, no exchange",
    "OK": "went well",
}
_GLOSSARY = """\
- **Friction**: the weights of all signals of a session, added up.
- **High friction**: {peak:g} or more.
- **Signal to noise**: friction of users and tools for one of the agent's own.
- **Predictability**: sessions that ended badly for each of high friction.
- **Antigen**: something that keeps going wrong, with what surrounded it.
- **Rule**: what users keep having to say; it becomes a preference when it was said in enough\
 conversations."""
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~$])")
_TICKS = re.compile(r"`+")


def write(found: Analysis, folder: str, rules: Sequence[Rule] = (), root: str = "") -> list[str]:
    """Write all files and give back their paths; with a `root` the folder must lie inside it."""
    if root and not is_inside(folder, root):
        raise Refused(
            "this folder leads out of the project",
            path=folder,
            hint="replace the link with a folder, or name another one with --out",
        )
    fresh = not os.path.isdir(folder) or not os.listdir(folder)
    make_folder(folder)
    ignore = os.path.join(folder, ".gitignore")
    written: list[str] = []
    # Never into a folder of the user's that holds other things: it would hide them all from git.
    if (fresh or root) and not os.path.lexists(ignore):
        write_file(ignore, IGNORE.encode(), mode=0o644)
        written.append(ignore)
    for name, text in files(found, rules).items():
        path = os.path.join(folder, name)
        _keep_instructions(path)
        write_file(path, text.encode("utf-8", "backslashreplace"))
        written.append(path)
    return written


def _keep_instructions(path: str) -> None:
    """Put another tool's file aside into which a person may have written: ours asks for nothing."""
    with suppress(OSError):
        if _ASKS_FOR in read_plain(path, limit=_MOST, follow=False):
            os.rename(path, f"{path}.former")


def remove(root: str) -> int:
    """Delete the files of a project's own folder, which can be made again; how many there were."""
    folder = os.path.join(root, FOLDER)
    if not is_inside(folder, root):
        return 0
    names = [name for name in NAMES if os.path.isfile(os.path.join(folder, name))]
    for name in names:
        remove_file(os.path.join(folder, name))
    return len(names)


def files(found: Analysis, rules: Sequence[Rule] = ()) -> dict[str, str]:
    texts = (
        "".join(
            f"{_encode(signal.record(each.heard.name))}\n"
            for each in found.sessions
            for signal in each.heard.signals
        ),
        _list(each.record() for each in found.sessions),
        _object(found.summary),
        _list(each.record() for each in found.candidates),
        _list(each.record() for each in found.clusters),
        review(found),
        report(found, rules),
    )
    return dict(zip(NAMES, texts, strict=True))


def _list(records: Iterable[dict[str, Any]]) -> str:
    """One record a line: quick to write, and a change shows where it is."""
    lines = ",\n".join(map(_encode, records))
    return f"[\n{lines}\n]\n" if lines else "[]\n"


def _object(record: dict[str, Any]) -> str:
    """One key a line."""
    lines = ",\n".join(f"{_encode(key)}: {_encode(record[key])}" for key in record)
    return f"{{\n{lines}\n}}\n"


def report(found: Analysis, rules: Sequence[Rule] = ()) -> str:
    """The report, with the rules of this project as far as there are any."""
    parts = [
        "# Friction report",
        f"Generated: {found.summary['analyzed_at']}, by the"
        f" {found.summary['config_used']['rules']} rules.",
        "## Executive summary",
        _executive(found),
        "## Signals",
        _signals(found),
        "## Friction levels",
        _levels(found),
        f"## Top {_SESSIONS} sessions",
        _top_sessions(found),
        "## Quality",
        _quality(found),
        "## Projects",
        _projects(found),
        "## What users keep having to say",
        _rules(rules),
        "## Recommendations",
        _recommendations(found, rules),
        f"## Trend of the last {_DAYS} days with sessions",
        _trend(found),
        "## Words",
        _GLOSSARY.format(peak=found.rules.peak),
    ]
    return "\n\n".join(parts) + "\n"


def health(found: Analysis) -> str:
    """How things stand, in one word: CRITICAL, WARNING or HEALTHY."""
    share = found.summary["overall"]["bad_rate"]
    return "CRITICAL" if share > 0.5 else "WARNING" if share > 0.3 else "HEALTHY"


def _executive(found: Analysis) -> str:
    overall, verdict = found.summary["overall"], found.summary["verdict"]
    given = found.summary["input"]
    lines = [
        f"**{health(found)}**: {overall['bad_sessions']} of"
        f" {counted(overall['total_sessions'], 'session')} bad ({overall['bad_rate']:.0%}),"
        f" {overall['avg_friction']:g} friction a session.",
        f"Verdict: **{verdict['status']}** ({'; '.join(verdict['reasons'])}).",
        f"Read: {counted(given['files'], 'file')}, {given['forks']} of them forks,"
        f" {counted(given['bad_lines'], 'bad line')} skipped,"
        f" {counted(given['unreadable_files'], 'file')} unreadable.",
    ]
    return "\n\n".join(lines)


def _signals(found: Analysis) -> str:
    counts = signal_counts(found.sessions)
    rows = [
        (
            kind.name, kind.source, counts[kind.name], f"{found.rules.weight(kind.name):g}",
            f"{weigh(kind.name, counts[kind.name], found.rules):g}", kind.doc,
        )
        for kind in SIGNALS
        if counts[kind.name]
    ]  # fmt: skip
    return _table(("Signal", "Source", "Count", "Weight", "Friction", "When"), rows)


def _levels(found: Analysis) -> str:
    peaks = [each.peak for each in found.sessions]
    rows = [
        (
            name,
            f"{least}–{most}" if most else f"{least}+",
            sum(least <= peak and (most is None or peak < most) for peak in peaks),
        )
        for name, least, most in _LEVELS
    ]
    return _table(("Level", "Friction", "Sessions"), rows)


def _top_sessions(found: Analysis) -> str:
    worst = sorted(found.sessions, key=lambda each: (-each.peak, each.heard.name))[:_SESSIONS]
    rows = [
        (_code(each.heard.name), each.quality, f"{each.peak:g}", each.heard.turns, each.duration)
        for each in worst
    ]
    return _table(("Session", "Quality", "Friction", "Turns", "Minutes"), rows)


def _quality(found: Analysis) -> str:
    counts = Counter(each.quality for each in found.sessions)
    total = len(found.sessions) or 1
    rows = [
        (name, counts[name], f"{counts[name] / total:.0%}", _MEANINGS[name]) for name in QUALITIES
    ]
    return _table(("Quality", "Sessions", "Share", "Meaning"), rows)


def _projects(found: Analysis) -> str:
    rows = [
        (
            _plain(name), of["total_sessions"], of["bad_sessions"], f"{of['bad_rate']:.0%}",
            f"{of['avg_friction']:g}", f"{of['avg_turns']:g}",
        )
        for name, of in found.summary["by_project"].items()
    ]  # fmt: skip
    return _table(("Project", "Sessions", "Bad", "Rate", "Friction", "Turns"), rows)


def _rules(rules: Sequence[Rule]) -> str:
    if not rules:
        return "Nothing that was said twice, and nothing from former runs."
    rows = [
        (each.id, each.status, each.tier, each.observations, _plain(each.statement, 160))
        for each in rules[:_SESSIONS]
    ]
    return _table(("Rule", "State", "Belief", "Conversations", "In words"), rows)


def _recommendations(found: Analysis, rules: Sequence[Rule]) -> str:
    lines = list(found.summary["verdict"]["recommended_actions"])
    ready = [each for each in rules if each.tier == "high" and each.status == "observing"]
    if ready:
        lines.append(
            f"{counted(len(ready), 'rule')} seen often enough: run `ltm consolidate --all`"
        )
    if failing := ", ".join(each.id for each in rules if each.wants_rewording):
        lines.append(f"Put into other words, because they did not help: {failing}")
    if stuck := ", ".join(each.id for each in rules if each.status == "escalated"):
        lines.append(f"A memory is not enough for {stuck}: try a hook, a test or a linter")
    return "\n".join(f"- {line}" for line in lines) or "Nothing to do."


def _trend(found: Analysis) -> str:
    days = found.summary["daily_stats"][-_DAYS:]
    most = max((day["avg_friction"] for day in days), default=0) or 1
    lines = [
        f"{day['date']}  {'█' * round(day['avg_friction'] / most * _BAR):<{_BAR}}"
        f"  {day['avg_friction']:g} ({day['bad']} of {day['total']} bad)"
        for day in days
    ]
    return "```text\n" + "\n".join(lines or ["no sessions"]) + "\n```"


def review(found: Analysis) -> str:
    """The clusters that weigh most, with what users said and what failed."""
    bad = sum(each.is_bad for each in found.sessions)
    parts = [
        "# Friction Antigen Clusters",
        f"Generated: {found.summary['analyzed_at']}",
        f"BAD sessions: {bad} | Raw candidates: {len(found.candidates)}"
        f" | Clusters: {len(found.clusters)}",
        "## Cluster Summary",
        _table(
            ("#", "Signal", "Tool Pattern", "Count", "Sessions", "Score", "Median Peak"),
            [
                (
                    number,
                    each.signal,
                    _code(each.pattern, 120),
                    len(each.members),
                    len(each.sessions),
                    f"{each.score:g}",
                    f"{each.median_peak:g}",
                )
                for number, each in enumerate(found.clusters[:_SHOWN], start=1)
            ],
        ),
        *(_cluster(number, each) for number, each in enumerate(found.clusters[:_SHOWN], start=1)),
    ]
    return "\n\n".join(parts) + "\n"


def _cluster(number: int, cluster: Cluster) -> str:
    record = cluster.record()
    parts = [
        f"## Cluster {number}: {cluster.signal} | {_code(cluster.pattern, 120)}",
        f"Occurrences: {len(cluster.members)} in {counted(len(cluster.sessions), 'session')},"
        f" score {cluster.score:g}, median peak {cluster.median_peak:g}",
        "### User Context (what the user said)",
        "\n>\n".join(f"> {_plain(text, 300)}" for text in cluster.contexts[:3]) or "(nothing)",
    ]
    if record["errors"]:
        parts += ["### Errors", _block(record["errors"][:3])]
    if record["top_files"]:
        parts += ["### Files involved", "\n".join(f"- {_code(f)}" for f in record["top_files"])]
    if record["top_keywords"]:
        parts.append(f"**Keywords:** {', '.join(map(_plain, record['top_keywords']))}")
    return "\n\n".join(parts)


def _plain(text: str, most: int = 0) -> str:
    """A text on one line in which nothing is markup."""
    line = one_line(text)
    return _MARKUP.sub(r"\\\1", line[:most] if most else line)


def _code(text: str, most: int = 0) -> str:
    """A text as code on one line, also inside a table."""
    line = one_line(text).replace("|", "¦")
    line = line[:most] if most else line
    fence = _fence(line, 1)
    return f"{fence} {line} {fence}" if "`" in line else f"`{line}`" if line else ""


def _block(lines: list[str]) -> str:
    text = "\n".join(visible(line) for line in lines)
    fence = _fence(text, 3)
    return f"{fence}text\n{text}\n{fence}"


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [f"| {' | '.join(map(str, cells))} |" for cells in (header, *rows)]
    return "\n".join([lines[0], f"|{'|'.join(' --- ' for _ in header)}|", *lines[1:]])


def _fence(text: str, least: int) -> str:
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    return "`" * max(least, longest + 1)
