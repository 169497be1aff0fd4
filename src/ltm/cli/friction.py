"""`ltm friction`: what went wrong in sessions, and whether memories helped."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import click

from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.errors import NotFound, WrongUsage
from ltm.friction.analysis import Analysis, analyse, learn, project_finder
from ltm.friction.report import FOLDER, health, write
from ltm.friction.ruleset import rules as rules_of
from ltm.friction.score import signal_counts, weigh
from ltm.friction.sources import find, group, of_project
from ltm.history.ingest import UNSAID
from ltm.model import now, utc
from ltm.state.corrections import FILE, Effect, Rule, opened
from ltm.state.session_log import SessionLog
from ltm.text.dates import day_span
from ltm.text.display import counted

_TREND = 30
_SHOWN = 8


@command("friction")
@click.argument("paths", nargs=-1, type=click.Path(), metavar="[PATH]...")
@click.option("--classic", is_flag=True, help="Use the rules of the first version, to compare.")
@click.option("--since", metavar="WHEN", help="Only sessions since a day: 2026-03-01, 2w.")
@click.option(
    "--out",
    "--output",
    "folder",
    metavar="DIR",
    type=click.Path(),
    help="Write the files there.  [default: .claude/friction]",
)
@click.option("--dry-run", "-n", is_flag=True, help="Only show what would happen.")
@click.option("--effect", is_flag=True, help="Show whether rules that became memories helped.")
def friction_command(
    work: Work, paths: tuple[str, ...], folder: str | None, dry_run: bool, effect: bool, **how: Any
) -> None:
    """Find where sessions went wrong: what users had to correct, what failed, what was repeated.

    \b
    ltm friction
    ltm friction ~/.claude/projects --since 2w
    ltm friction --effect

    PATH is a transcript, a folder of transcripts or a folder of projects; without it, the sessions
    of this project are read. A forked or resumed conversation counts once. Corrections that recur
    become rules, and `ltm consolidate --all` makes preferences of those seen often enough. The
    weights are options: see `ltm config`.
    """
    if effect:
        if paths or folder or any(how.values()):
            raise WrongUsage(
                "--effect goes with no other option", hint="try: ltm friction --effect"
            )
        _show_effect(work)
        return
    found = _analysed(work, paths, **how)
    rules = _learn(work, found, dry_run=dry_run)
    written: list[str] = []
    if not dry_run:
        root = "" if folder else work.places.project.root
        target = os.path.abspath(folder) if folder else os.path.join(root, FOLDER)
        written = write(found, target, rules, root)
    if work.as_json:
        output.emit({**found.summary, "written": written})
        return
    _show(found, rules)
    if dry_run:
        output.note("Nothing was written.")
        return
    output.note(f"Written to {os.path.dirname(written[-1])}")
    if any(path.endswith(".gitignore") for path in written):
        output.note("These files quote what you typed: a .gitignore keeps them out of git.")


def _analysed(work: Work, paths: tuple[str, ...], classic: bool, since: str | None) -> Analysis:
    start = _moment(since) if since else None
    files = _transcripts(work, paths, start)
    rules = rules_of(work.config, classic=classic)
    bar = click.progressbar(
        length=len(files),
        label="Reading sessions",
        file=sys.stderr,
        hidden=not sys.stderr.isatty(),
    )
    with bar, closing(SessionLog(work.places.state_db)) as log:
        sources = group(files)
        bar.update(len(sources.unreadable))
        unsaid = log.turns_read(UNSAID, now()).has
        found = analyse(sources, rules, now(), since=start, tick=bar.update, is_unsaid=unsaid)
    for path in found.unreadable:
        output.note(f"Could not read {path}")
    return found


def _transcripts(work: Work, paths: tuple[str, ...], since: datetime | None) -> list[str]:
    places = work.places
    if paths:
        files = find(os.path.expanduser(path) for path in paths)
        where = ", ".join(paths)
    else:
        files = of_project(places.project.root, places.project.id, places.home, os.environ)
        where = places.project.root
    if not files:
        raise NotFound(
            "there are no transcripts",
            path=where,
            hint="name a transcript, or a folder of them: ltm friction ~/.claude/projects",
        )
    # What was not written to since then holds nothing from since then.
    return files if since is None else [path for path in files if _written(path) >= since]


def _written(path: str) -> datetime:
    try:
        return datetime.fromtimestamp(os.stat(path).st_mtime, UTC)
    except OSError:
        return datetime.max.replace(tzinfo=UTC)  # to be reported as unreadable


def _learn(work: Work, found: Analysis, *, dry_run: bool) -> list[Rule]:
    """Keep the evidence, and give back this project's rules. Classic signals teach nothing."""
    places = work.places
    own = places.project.id
    if (dry_run or found.rules.classic) and not os.path.exists(os.path.join(places.home, FILE)):
        return []
    with opened(places.home) as ledger:
        if not dry_run and not found.rules.classic:
            project_of = project_finder(places.project.root, places.home, own)
            learn(ledger, (each.heard for each in found.sessions), found.rules, project_of)
        return ledger.rules(own, now())


def _show(found: Analysis, rules: list[Rule]) -> None:
    overall, given = found.summary["overall"], found.summary["input"]
    output.say(
        f"{counted(overall['total_sessions'], 'session')}, {overall['bad_sessions']} of them bad"
        f" ({overall['bad_rate']:.0%}), {overall['avg_friction']:g} friction a session:"
        f" {health(found)}, {found.summary['verdict']['status']}"
    )
    days = found.summary["daily_stats"][-_TREND:]
    trend = _sparkline([day["avg_friction"] for day in days])
    if trend:
        output.say(f"{days[0]['date']} {trend} {days[-1]['date']}")
    counts = signal_counts(found.sessions)
    ranked = sorted(counts, key=lambda name: (-weigh(name, counts[name], found.rules), name))
    output.table(
        ("signal", "count", "friction"),
        [
            (name, str(counts[name]), f"{weigh(name, counts[name], found.rules):g}")
            for name in ranked
        ],
    )
    live = [rule for rule in rules if rule.status in ("observing", "hot", "escalated")]
    if live:
        output.say("Corrections that recur:")
        output.table(
            ("rule", "conversations", "belief", "state", "in words"),
            [
                (rule.id, str(rule.observations), rule.tier, rule.status, rule.statement)
                for rule in live[:_SHOWN]
            ],
        )
    if given["forks"]:
        output.note(f"{counted(given['forks'], 'file')} continuing another one: counted once.")
    if given["bad_lines"]:
        output.note(f"{counted(given['bad_lines'], 'line')} could not be read: skipped.")


def _sparkline(values: list[float]) -> str:
    """A small plot: one block for each day with sessions."""
    if len(values) < 2:
        return ""
    blocks = "▁▂▃▄▅▆▇█"
    try:
        blocks.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        blocks = "_.-=+*#@"
    most = max(values) or 1
    return "".join(blocks[round(value / most * (len(blocks) - 1))] for value in values)


def _show_effect(work: Work) -> None:
    effects: list[Effect] = []
    if os.path.exists(os.path.join(work.places.home, FILE)):
        with opened(work.places.home) as ledger:
            effects = ledger.effect(work.places.project.id, now())
    if work.as_json:
        output.emit({"effects": [_record(each) for each in effects], "total": len(effects)})
        return
    if not effects:
        output.note(
            "No rule has become a memory yet. Rules come from 'ltm friction', memories of them"
            " from 'ltm consolidate --all'."
        )
        return
    output.table(
        ("rule", "since", "before", "after", "verdict", "state", "in words"),
        [
            (
                each.rule.id,
                each.rule.since[:10],
                f"{each.before.seen} of {each.before.of}",
                f"{each.after.seen} of {each.after.of}",
                each.verdict,
                each.rule.status,
                each.rule.statement,
            )
            for each in effects
        ],
    )
    output.note("before, after: conversations with this correction, of all that were read.")


def _record(effect: Effect) -> dict[str, Any]:
    rule = effect.rule
    shares = {
        name: {"seen": each.seen, "conversations": each.of, "rate": round(each.rate, 3)}
        for name, each in (("before", effect.before), ("after", effect.after))
    }
    return {
        "rule": rule.id,
        "statement": rule.statement,
        "status": rule.status,
        "memory": rule.memory,
        "promoted_at": rule.since,
        "observations": rule.observations,
        "recurred_while_hot": rule.recurred_while_hot,
        **shares,
        "verdict": effect.verdict,
    }


def _moment(text: str) -> datetime:
    """When `--since` means: a moment, or the beginning of the days that it names."""
    try:
        return utc(text)
    except (ValueError, OverflowError):
        return utc(day_span(text, now().date()).start.isoformat())
