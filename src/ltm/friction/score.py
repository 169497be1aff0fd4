"""The score of a session, the figures of many, and what keeps going wrong in them (antigens).

A session is BAD, FRICTION, ROUGH, ONE-SHOT or OK. Friction only adds up, so the peak is the end. By
the classic rules candidates for an antigen are alike when the same tools were used; by the default
rules when the user said the same, because which tools ran says nothing about what was wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median
from typing import Any

from ltm.config.options import SIGNALS_BY_NAME
from ltm.friction.ruleset import Heard, Rules, Window, seconds_between
from ltm.text.sameness import says_otherwise
from ltm.text.similarity import alike, phrases

QUALITIES = ("BAD", "FRICTION", "ROUGH", "ONE-SHOT", "OK")
_ERRORS = 3
_ERROR_RATIO = 0.5
_CALM = 5
_LOOP = ("exit_error", "false_success")


@dataclass(frozen=True, slots=True)
class Scored:
    """A session with its figures."""

    heard: Heard
    quality: str
    peak: float
    successes: int
    errors: int
    duration: int
    """Minutes from the first message to the last."""
    by_source: dict[str, dict[str, Any]]
    patterns: list[dict[str, Any]]
    trajectory: list[float]

    @property
    def is_bad(self) -> bool:
        return self.quality == "BAD"

    def record(self) -> dict[str, Any]:
        heard = self.heard
        return {
            "session_id": heard.name,
            "session_metadata": {
                "git_branch": heard.branch,
                "cwd": heard.cwd,
                "started_at": heard.started,
                "ended_at": heard.ended,
                "turn_count": heard.turns,
                "duration_min": self.duration,
            },
            "friction_summary": {
                "peak": self.peak,
                "final": self.peak,
                "total_signals": len(heard.signals),
                "learning_moments": sum(
                    pattern["type"] == "learning_moment" for pattern in self.patterns
                ),
            },
            "momentum": {
                "success_count": self.successes,
                "error_count": self.errors,
                "error_ratio": round(self.errors / max(1, self.errors + self.successes), 2),
            },
            "quality": self.quality,
            "by_source": self.by_source,
            "friction_trajectory": self.trajectory,
            "patterns_detected": self.patterns,
        }

    def brief(self) -> dict[str, Any]:
        return {
            "session_id": self.heard.name,
            "quality": self.quality,
            "peak_friction": self.peak,
            "turns": self.heard.turns,
            "duration_min": self.duration,
        }


def score(heard: Heard, rules: Rules) -> Scored:
    """The figures of a session by these rules."""
    weights = [rules.weight(signal.name) for signal in heard.signals]
    trajectory = [round(total, 2) for total in accumulate(weights)]
    peak = trajectory[-1] if trajectory else 0.0
    successes = sum(signal.name == "exit_success" for signal in heard.signals)
    errors = sum(signal.name == "exit_error" for signal in heard.signals)
    return Scored(
        heard=heard,
        quality=_quality(heard, rules, peak, successes, errors),
        peak=peak,
        successes=successes,
        errors=errors,
        duration=int((seconds_between(heard.started, heard.ended) or 0) // 60),
        by_source=_by_source(heard, rules),
        patterns=_patterns(heard, rules, trajectory),
        trajectory=trajectory,
    )


def _quality(heard: Heard, rules: Rules, peak: float, successes: int, errors: int) -> str:
    names = {signal.name for signal in heard.signals}
    if names & rules.bad:
        return "BAD"
    if names & rules.trying:
        return "FRICTION"
    ran = errors + successes
    if peak >= rules.peak or (errors > _ERRORS and errors > _ERROR_RATIO * ran):
        return "ROUGH"
    return "ONE-SHOT" if heard.turns <= 1 else "OK"


def _by_source(heard: Heard, rules: Rules) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for signal in heard.signals:
        weight = rules.weight(signal.name)
        source = found.setdefault(
            SIGNALS_BY_NAME[signal.name].source,
            {"total_friction": 0.0, "signal_count": 0, "signals": {}},
        )
        source["total_friction"] = round(source["total_friction"] + weight, 2)
        source["signal_count"] += 1
        of_it = source["signals"].setdefault(signal.name, {"count": 0, "total_weight": 0.0})
        of_it["count"] += 1
        of_it["total_weight"] = round(of_it["total_weight"] + weight, 2)
    return found


def _patterns(heard: Heard, rules: Rules, trajectory: list[float]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    angry = rules.trying - {"false_success"}
    names = [signal.name for signal in heard.signals]
    for place, sequence in enumerate(zip(names, names[1:], names[2:], strict=False)):
        if sequence[:2] == _LOOP and names[place + 2] in angry:
            found.append({"type": "false_success_loop", "sequence": list(sequence), "count": 1})
    if rules.classic or not trajectory:
        return found
    # A reaction after which the rest went well: the agent took it in.
    last = max((place for place, each in enumerate(heard.signals) if each.is_reaction), default=-1)
    before, after = trajectory[last], round(trajectory[-1] - trajectory[last], 2)
    if last >= 0 and after < _CALM and "exit_success" in names[last + 1 :]:
        pattern = {"type": "learning_moment", "friction_before": before, "friction_after": after}
        found.insert(0, pattern)
    return found


_DAILY = {
    "total": "total_sessions", "interactive": "interactive_sessions", "bad": "bad_sessions",
    "bad_rate": "bad_rate", "avg_friction": "avg_friction",
}  # fmt: skip
_TOP = 5
_MANY_CURSES = 5
_MANY_LOOPS = 3


def summarise(
    sessions: Sequence[Scored], rules: Rules, analysed_at: str, input_: dict[str, Any]
) -> dict[str, Any]:
    """The summary of these sessions, as it is written and as `--json` prints it."""
    projects: dict[str, list[Scored]] = {}
    days: dict[str, list[Scored]] = {}
    for each in sessions:
        projects.setdefault(each.heard.project, []).append(each)
        if each.heard.started:
            days.setdefault(each.heard.started[:10], []).append(each)
    sources = _totals_by_source(sessions)
    high = sum(each.peak >= rules.peak for each in sessions)
    ended_badly = sum(each.is_bad for each in sessions)
    correlations = {
        "high_friction_sessions": high,
        "intervention_sessions": ended_badly,
        "intervention_predictability": _share(ended_badly, high),
    }
    talks = [each for each in sessions if each.heard.is_interactive]
    calm = sorted(talks, key=lambda each: (each.peak, -each.heard.turns, each.heard.name))
    hard = sorted(sessions, key=lambda each: (-each.peak, each.heard.name))
    return {
        "analyzed_at": analysed_at,
        "sessions_analyzed": len(sessions),
        "config_used": rules.record(),
        "input": input_,
        "aggregate_by_source": sources,
        "by_project": {name: _figures(of) for name, of in sorted(projects.items())},
        "overall": _figures(sessions),
        "daily_stats": [
            {"date": day} | {name: figures[key] for name, key in _DAILY.items()}
            for day, figures in ((day, _figures(of)) for day, of in sorted(days.items()))
        ],
        "best_session": calm[0].brief() if calm else None,
        "worst_session": hard[0].brief() if hard and hard[0].peak > 0 else None,
        "correlations": correlations,
        "common_sequences": [],
        "verdict": _verdict(sessions, sources, correlations, rules),
    }


def signal_counts(sessions: Sequence[Scored]) -> Counter[str]:
    """How often each signal occurred."""
    return Counter(signal.name for each in sessions for signal in each.heard.signals)


def _figures(sessions: Sequence[Scored]) -> dict[str, Any]:
    talks = sum(each.heard.is_interactive for each in sessions)
    bad = sum(each.is_bad for each in sessions)
    return {
        "total_sessions": len(sessions),
        "interactive_sessions": talks,
        "bad_sessions": bad,
        "bad_rate": _share(bad, len(sessions)),
        "avg_friction": _mean([each.peak for each in sessions]),
        "avg_duration_min": _mean([each.duration for each in sessions]),
        "avg_turns": _mean([each.heard.turns for each in sessions]),
    }


def _totals_by_source(sessions: Sequence[Scored]) -> dict[str, dict[str, Any]]:
    totals: dict[str, float] = {}
    having: Counter[str] = Counter()
    signals: dict[str, Counter[str]] = {}
    for each in sessions:
        for source, figures in each.by_source.items():
            totals[source] = totals.get(source, 0.0) + figures["total_friction"]
            having[source] += 1
            counts = signals.setdefault(source, Counter())
            for name, of_it in figures["signals"].items():
                counts[name] += of_it["count"]
    return {
        source: {
            "sessions_with_signals": having[source],
            "total_friction": round(total, 2),
            "avg_friction_per_session": round(total / len(sessions), 2),
            "top_signals": dict(signals[source].most_common(_TOP)),
        }
        for source, total in sorted(totals.items())
    }


def _verdict(
    sessions: Sequence[Scored],
    sources: dict[str, dict[str, Any]],
    correlations: dict[str, Any],
    rules: Rules,
) -> dict[str, Any]:
    def friction(source: str) -> float:
        return float(sources.get(source, {}).get("total_friction", 0.0))

    ratio = (friction("tool") + friction("user")) / (friction("llm") or 1)
    predictability = correlations["intervention_predictability"]
    reasons = [
        f"signal to noise {ratio:.2f}, wanted {rules.thresholds['signal_noise_ratio']:g}",
        f"predictability {predictability:.2f},"
        f" wanted {rules.thresholds['intervention_predictability']:g}",
    ]
    if ratio < rules.thresholds["signal_noise_ratio"]:
        status = "BLOAT"
    elif predictability < rules.thresholds["intervention_predictability"]:
        status = "INCONCLUSIVE"
    else:
        status = "USEFUL"
    patterns = [pattern["type"] for each in sessions for pattern in each.patterns]
    actions = []
    if signal_counts(sessions)["user_curse"] > _MANY_CURSES:
        actions.append("Consider increasing user_curse weight (high occurrence)")
    if patterns.count("false_success_loop") > _MANY_LOOPS:
        actions.append("Create antigen for false_success pattern")
    return {"status": status, "reasons": reasons, "recommended_actions": actions}


def weigh(name: str, count: int, rules: Rules) -> float:
    """What so many of a signal weigh together."""
    return round(count * rules.weight(name), 2) if name in SIGNALS_BY_NAME else 0.0


def _share(part: int, whole: int) -> float:
    return round(part / whole, 2) if whole else 0.0


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 2) if values else 0.0


# A value of the file's format, which other tools look for: no instruction is written yet.
UNWRITTEN = "# TODO: Write prevention instruction based on pattern above"
"""The placeholder for an instruction until one is written."""

_WEIGHTS = {
    "user_intervention": 10, "session_abandoned": 10, "false_success": 8, "no_resolution": 8,
    "tool_loop": 6, "rapid_exit": 6, "interrupt_cascade": 5,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class AntigenCandidate:
    """One time it went wrong, with what surrounded it."""

    session: str
    peak: float
    window: Window

    @property
    def pattern(self) -> str:
        """The tools used, in order, whatever came of them."""
        names = (tool.partition(":")[0] for tool in self.window.tools)
        return " → ".join(names) or "(none)"

    @property
    def statement(self) -> str:
        """What the user said when it happened, else before it."""
        said = self.window.signal.statement
        return said or (self.window.contexts[0] if self.window.contexts else "")

    def record(self) -> dict[str, Any]:
        window = self.window
        return {
            "session_id": self.session,
            "anchor_signal": window.signal.name,
            "anchor_ts": window.signal.at,
            "peak_friction": self.peak,
            "turns_in_window": window.turns,
            "files": list(window.files),
            "tool_sequence": list(window.tools),
            "errors": list(window.errors),
            "keywords": list(window.keywords),
            "user_context": list(window.contexts),
            "inhibitory_instruction": UNWRITTEN,
        }


@dataclass(frozen=True, slots=True)
class Cluster:
    members: tuple[AntigenCandidate, ...]
    score: float

    @property
    def signal(self) -> str:
        """The signal most of them have."""
        return _top((each.window.signal.name for each in self.members), 1)[0]

    @property
    def pattern(self) -> str:
        return _top((each.pattern for each in self.members), 1)[0]

    @property
    def sessions(self) -> list[str]:
        """The sessions they are from."""
        return sorted({each.session for each in self.members})

    @property
    def median_peak(self) -> float:
        """The friction of a usual one of these sessions."""
        return round(float(median(each.peak for each in self.members)), 2)

    @property
    def contexts(self) -> list[str]:
        """What users said, each once."""
        said = [each.statement for each in self.members if each.window.signal.statement]
        around = [text for each in self.members for text in each.window.contexts]
        return [text for text in dict.fromkeys([*said, *around]) if text][:5]

    def record(self) -> dict[str, Any]:
        windows = [each.window for each in self.members]
        return {
            "anchor_signal": self.signal,
            "tool_pattern": self.pattern,
            "count": len(self.members),
            "score": self.score,
            "sessions": self.sessions,
            "median_peak": self.median_peak,
            "max_peak": max(each.peak for each in self.members),
            "contexts": self.contexts,
            "errors": _top((error for each in windows for error in each.errors), 5),
            "top_files": _top((file for each in windows for file in each.files), 5),
            "top_keywords": _top((word for each in windows for word in each.keywords), 10),
        }


def candidates(sessions: Sequence[Scored], rules: Rules) -> list[AntigenCandidate]:
    """Every time it went wrong, in the worst sessions first."""
    wanted = ("BAD",) if rules.classic else ("BAD", "FRICTION")
    worst = sorted(
        (each for each in sessions if each.quality in wanted),
        key=lambda each: (-each.peak, each.heard.name),
    )
    return [
        AntigenCandidate(each.heard.name, each.peak, w)
        for each in worst
        for w in each.heard.windows
    ]


def clusters(found: Sequence[AntigenCandidate], rules: Rules) -> list[Cluster]:
    """Candidates that are alike, together; the heaviest first."""
    groups = _by_tools(found) if rules.classic else _by_words(found)
    made = [Cluster(tuple(members), _score(members, rules)) for members in groups]
    return sorted(made, key=lambda each: (-each.score, each.signal, each.pattern, each.sessions))


def _by_tools(found: Sequence[AntigenCandidate]) -> list[list[AntigenCandidate]]:
    groups: dict[tuple[str, str], list[AntigenCandidate]] = {}
    for each in found:
        groups.setdefault((each.window.signal.name, each.pattern), []).append(each)
    return list(groups.values())


def _by_words(found: Sequence[AntigenCandidate]) -> list[list[AntigenCandidate]]:
    """Each to the first group whose first member says the same; silent ones go by signal."""
    groups: list[tuple[frozenset[str], list[AntigenCandidate]]] = []
    silent: dict[str, list[AntigenCandidate]] = {}
    for each in found:
        words = phrases(each.statement)
        if not any(" " in phrase for phrase in words):
            silent.setdefault(each.window.signal.name, []).append(each)
            continue
        for known, members in groups:
            if alike(known, words) and not says_otherwise(each.statement, members[0].statement):
                members.append(each)
                break
        else:
            groups.append((words, [each]))
    return [*(members for _, members in groups), *silent.values()]


def _score(members: Sequence[AntigenCandidate], rules: Rules) -> float:
    if rules.classic:
        return float(len(members) * _WEIGHTS.get(members[0].window.signal.name, 1))
    return round(sum(rules.weight(each.window.signal.name) for each in members), 2)


def _top(values: Iterable[str], most: int) -> list[str]:
    return [value for value, _ in Counter(value for value in values if value).most_common(most)]
