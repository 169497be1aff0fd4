"""The figures of all sessions together: by source, by project, by day, and a verdict.

Owns `friction_summary.json`. Pure; imports this package.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ltm.core.signals import BY_NAME
from ltm.friction.ruleset import Rules
from ltm.friction.score import Scored

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
    sources = _by_source(sessions)
    correlations = _correlations(sessions, rules)
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
        "daily_stats": [{"date": day, **_daily(of)} for day, of in sorted(days.items())],
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


def _daily(sessions: Sequence[Scored]) -> dict[str, Any]:
    figures = _figures(sessions)
    return {
        "total": figures["total_sessions"],
        "interactive": figures["interactive_sessions"],
        "bad": figures["bad_sessions"],
        "bad_rate": figures["bad_rate"],
        "avg_friction": figures["avg_friction"],
    }


def _by_source(sessions: Sequence[Scored]) -> dict[str, dict[str, Any]]:
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


def _correlations(sessions: Sequence[Scored], rules: Rules) -> dict[str, Any]:
    high = sum(each.peak >= rules.peak for each in sessions)
    ended_badly = sum(each.is_bad for each in sessions)
    return {
        "high_friction_sessions": high,
        "intervention_sessions": ended_badly,
        "intervention_predictability": _share(ended_badly, high),
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
    return {"status": status, "reasons": reasons, "recommended_actions": _actions(sessions)}


def _actions(sessions: Sequence[Scored]) -> list[str]:
    counts = signal_counts(sessions)
    loops = sum(
        pattern["type"] == "false_success_loop" for each in sessions for pattern in each.patterns
    )
    actions = []
    if counts["user_curse"] > _MANY_CURSES:
        actions.append("Consider increasing user_curse weight (high occurrence)")
    if loops > _MANY_LOOPS:
        actions.append("Create antigen for false_success pattern")
    return actions


def weigh(name: str, count: int, rules: Rules) -> float:
    """What so many of a signal weigh together."""
    return round(count * rules.weight(name), 2) if name in BY_NAME else 0.0


def _share(part: int, whole: int) -> float:
    return round(part / whole, 2) if whole else 0.0


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 2) if values else 0.0
