"""The whole analysis for a person to read: `report.md`.

Pure; imports this package.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ltm.core.counting import counted
from ltm.core.rulestate import Rule
from ltm.core.signals import SIGNALS
from ltm.friction.aggregate import signal_counts, weigh
from ltm.friction.analyse import Analysis
from ltm.friction.markdown import code, header, plain, row
from ltm.friction.score import QUALITIES

_LEVELS = (("low", 0, 15), ("medium", 15, 50), ("high", 50, None))
_SESSIONS = 20
_DAYS = 14
_BAR = 30
_MEANINGS = {
    "BAD": "ended in trouble",
    "FRICTION": "the user had to react",
    "ROUGH": "much failed, and the user did not complain",
    "ONE-SHOT": "one order, no exchange",
    "OK": "went well",
}


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
        _glossary(found),
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
    lines = [
        row(
            kind.name, kind.source, counts[kind.name], f"{found.rules.weight(kind.name):g}",
            f"{weigh(kind.name, counts[kind.name], found.rules):g}", kind.doc,
        )
        for kind in SIGNALS
        if counts[kind.name]
    ]  # fmt: skip
    return "\n".join([header("Signal", "Source", "Count", "Weight", "Friction", "When"), *lines])


def _levels(found: Analysis) -> str:
    lines = []
    for name, least, most in _LEVELS:
        inside = sum(
            least <= each.peak and (most is None or each.peak < most) for each in found.sessions
        )
        lines.append(row(name, f"{least}–{most}" if most else f"{least}+", inside))
    return "\n".join([header("Level", "Friction", "Sessions"), *lines])


def _top_sessions(found: Analysis) -> str:
    worst = sorted(found.sessions, key=lambda each: (-each.peak, each.heard.name))[:_SESSIONS]
    lines = [
        row(code(each.heard.name), each.quality, f"{each.peak:g}", each.heard.turns, each.duration)
        for each in worst
    ]
    return "\n".join([header("Session", "Quality", "Friction", "Turns", "Minutes"), *lines])


def _quality(found: Analysis) -> str:
    counts = Counter(each.quality for each in found.sessions)
    total = len(found.sessions) or 1
    lines = [
        row(name, counts[name], f"{counts[name] / total:.0%}", _MEANINGS[name])
        for name in QUALITIES
    ]
    return "\n".join([header("Quality", "Sessions", "Share", "Meaning"), *lines])


def _projects(found: Analysis) -> str:
    lines = [
        row(
            plain(name), of["total_sessions"], of["bad_sessions"], f"{of['bad_rate']:.0%}",
            f"{of['avg_friction']:g}", f"{of['avg_turns']:g}",
        )
        for name, of in found.summary["by_project"].items()
    ]  # fmt: skip
    return "\n".join([header("Project", "Sessions", "Bad", "Rate", "Friction", "Turns"), *lines])


def _rules(rules: Sequence[Rule]) -> str:
    if not rules:
        return "Nothing that was said twice, and nothing from former runs."
    lines = [
        row(each.id, each.status, each.tier, each.observations, plain(each.statement, 160))
        for each in rules[:_SESSIONS]
    ]
    return "\n".join([header("Rule", "State", "Belief", "Conversations", "In words"), *lines])


def _recommendations(found: Analysis, rules: Sequence[Rule]) -> str:
    lines = list(found.summary["verdict"]["recommended_actions"])
    ready = [each for each in rules if each.tier == "high" and each.status == "observing"]
    if ready:
        lines.append(
            f"{counted(len(ready), 'rule')} seen often enough: run `ltm consolidate --all`"
        )
    failing = [each for each in rules if each.wants_rewording]
    if failing:
        lines.append(f"Put into other words, because they did not help: {_ids(failing)}")
    stuck = [each for each in rules if each.status == "escalated"]
    if stuck:
        lines.append(f"A memory is not enough for {_ids(stuck)}: try a hook, a test or a linter")
    return "\n".join(f"- {line}" for line in lines) or "Nothing to do."


def _ids(rules: Sequence[Rule]) -> str:
    return ", ".join(each.id for each in rules)


def _trend(found: Analysis) -> str:
    days = found.summary["daily_stats"][-_DAYS:]
    most = max((day["avg_friction"] for day in days), default=0) or 1
    lines = [
        f"{day['date']}  {'█' * round(day['avg_friction'] / most * _BAR):<{_BAR}}"
        f"  {day['avg_friction']:g} ({day['bad']} of {day['total']} bad)"
        for day in days
    ]
    return "```text\n" + "\n".join(lines or ["no sessions"]) + "\n```"


def _glossary(found: Analysis) -> str:
    return "\n".join(
        [
            "- **Friction**: the weights of all signals of a session, added up.",
            f"- **High friction**: {found.rules.peak:g} or more.",
            "- **Signal to noise**: friction of users and tools for one of the agent's own.",
            "- **Predictability**: sessions that ended badly for each of high friction.",
            "- **Antigen**: something that keeps going wrong, with what surrounded it.",
            "- **Rule**: what users keep having to say; it becomes a preference when it was said"
            " in enough conversations.",
        ]
    )
