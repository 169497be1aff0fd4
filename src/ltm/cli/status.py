"""`ltm status` and `ltm stats`: the figures of a project, and what needs attention."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any

from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.clients.connections import client_health, connections
from ltm.clients.former_tools import former_entries
from ltm.config.config import problems_in
from ltm.inject.render import UNSURE_BELOW
from ltm.llm.model import model_lines
from ltm.model import Memory, Phase, Problem, iso, now
from ltm.notes.stash import MANY
from ltm.project import installation
from ltm.team.outbox import Outbox
from ltm.team.schedule import last_round
from ltm.team.teams import Team, teams
from ltm.text.display import counted, file_size, one_line
from ltm.text.sentences import shortened
from ltm.upkeep import plan
from ltm.upkeep.stats import LATELY, project_figures, stats


def figures(work: Work) -> dict[str, Any]:
    former = [
        {"path": each.path, "message": each.problem.message, "remedy": each.remedy}
        for each in former_entries(work.places)
    ]
    joined = [_team_figures(each) for each in teams(work.places.home)]
    return {**project_figures(work), "teams": joined, "former": former}


def _team_figures(team: Team) -> dict[str, Any]:
    last, outbox = last_round(team.folder), Outbox(team.folder)
    return {
        "name": team.name,
        "role": team.role,
        "synchronized": iso(datetime.fromtimestamp(last.succeeded, UTC)) if last.succeeded else "",
        "unsent": outbox.count(),
        "refused": len(outbox.refused()),
        "error": last.error,
    }


def _in_touch(team: dict[str, Any]) -> str:
    done = (
        f"in step {output.since(team['synchronized'])}" if team["synchronized"] else "never reached"
    )
    unsent = f", {counted(team['unsent'], 'decision')} to send" if team["unsent"] else ""
    return done + unsent


@command("status")
def status_command(work: Work) -> None:
    """Show where this project's memories are, how many there are, and what needs attention."""
    value = figures(work)
    if work.as_json:
        output.emit(value)
        return
    output.say(f"project   {value['project']['name']}  ({value['project']['id']})")
    output.say(f"agent     {value['agent']}")
    if command := installation.of_plugin():
        output.say(f"command   {command} (type it where it says ltm)")
    output.say(f"memories  {value['active']} active, {value['total']} in all")
    for vault in value["vaults"]:
        output.say(f"  {vault['name']:8}{vault['memories']:5}  {vault['path']}")
    said = value["said"]
    if value["sessions"] or said["sessions"]:
        output.say(
            f"sessions  {value['sessions']}; {said['sessions']} searchable word for word"
            f" ({counted(said['passages'], 'passage')}, {said['bytes'] / 1e6:.1f} MB)"
        )
    else:
        output.say("sessions  none yet (read past ones with: ltm capture --all)")
    if value["signing"]:
        output.say(f"key       {value['signing']}: new memories are signed")
    if value["remote"]:
        done = value["remote"]["done"]
        said = f"in step {output.since(done)}" if done else "never reached"
        output.say(f"remote    {value['remote']['address']}, {said}")
    for each in value["teams"]:
        output.say(f"team      {each['name']} (you are {each['role']}), {_in_touch(each)}")
    for head, line in zip_longest(("model",), model_lines(value["llm"]), fillvalue=""):
        output.say(f"{head:10}{line}")
    output.say(f"vectors   {value['vectors']['said']}")
    if value["vectors"]["hint"]:
        output.say(f"          to search by meaning too: {value['vectors']['hint']}")
    for what, typed in _to_do(value):
        output.note(f"{what}: {typed}")
    for each in value["unproven"]:
        output.note(output.problem(Problem(each["path"], each["message"], ill=False)))
    for each in value["foreign"]:
        output.note(output.problem(Problem(each["path"], each["message"], each["line"], ill=False)))
    for each in value["former"]:
        output.note(output.problem(Problem(each["path"], each["message"], ill=False)))
    for name, held in value["held"].items():
        output.note(plan.mass_message(name, held))
    for problem in (*problems_in(work.config, work.places.home), *work.store.problems()):
        output.note(output.problem(problem))


def _to_do(value: dict[str, Any]) -> list[tuple[str, str]]:
    """What waits for a person, and what to type about it."""
    waiting = value["waiting"]
    rows = (
        (waiting["quarantined"], "memory", "waiting for approval", "ltm approve"),
        (waiting["candidates"], "candidate", "from sessions to keep or drop", "ltm review"),
        (waiting["conflicts"], "conflict", "between memories", "ltm settle"),
        (
            waiting["untrusted"],
            "memory",
            "came with this repository, not used until you trust it",
            "ltm list, then ltm trust",
        ),
        (
            waiting["stashes"] if waiting["stashes"] >= MANY else 0,
            "stash",
            "to make memories of",
            "ltm consolidate --all",
        ),
        (value["problems"], "problem", "found", "ltm doctor"),
        (bool(value["remote"].get("error")), "remote", "not reached", "ltm remote"),
        (sum(bool(each["error"]) for each in value["teams"]), "team", "not reached", "ltm team"),
        (
            sum(each["refused"] for each in value["teams"]),
            "decision",
            "refused by the server of a team",
            "ltm team",
        ),
    )
    many = {"stash": "stashes"}
    return [
        (f"{counted(count, what, many.get(what, ''))} {more}", typed)
        for count, what, more, typed in rows
        if count
    ]


_FIRST_STEPS: tuple[tuple[str, str], ...] = (
    ("ltm setup", "connect your agents, so that sessions teach and are told"),
    ("ltm capture --all", "learn from the sessions you had before"),
    ('ltm remember "some text"', "keep something yourself"),
    ("ltm demo", "see it work in a few seconds"),
    ("ltm help", "all commands"),
)
_NEXT_STEPS: tuple[tuple[str, str], ...] = (
    ("ltm recall", "search as you type"),
    ('ltm remember "some text"', "keep something"),
    ("ltm inject", "what the next session is told"),
    ("ltm help", "all commands"),
)


def overview() -> None:
    """Print where a project stands, in a few lines, and what to type next: `ltm` by itself."""
    with Work() as work:
        value = figures(work)
        to_do = _to_do(value)
        offered: dict[str, list[str]] = {}
        for each in value["foreign"]:
            if each["new"]:
                offered.setdefault(each["remedy"], []).append(each["path"])
        to_do += [
            (f"memories of another tool in {' and '.join(paths)}", remedy)
            for remedy, paths in offered.items()
        ]
        found = connections(work.places, work.config, {})
        entered = client_health(work.places, found).connected
    active, name = value["active"], value["project"]["name"]
    steps = _NEXT_STEPS
    if not active and not value["sessions"]:
        output.say(f"{name} has no memories yet.\n")
        steps = _FIRST_STEPS[entered:]
    else:
        if not entered:
            to_do.append(("no client is connected: sessions get no memories", "ltm setup"))
        scopes = value["by_scope"]
        both = f" ({scopes['project']} here, {scopes['agent']} for all projects)"
        output.say(
            f"{name}: {counted(active, 'memory')}{both if scopes['agent'] else ''},"
            f" {counted(value['sessions'], 'session')}\n"
        )
    if to_do:
        _say_rows([(typed, what) for what, typed in to_do], least=len(_NEXT_STEPS[1][0]))
        output.say("")
    _say_rows(steps)


def _say_rows(rows: Sequence[tuple[str, str]], least: int = 0) -> None:
    """What to type, and next to it what it is good for."""
    wide = max(least, *(len(typed) for typed, _ in rows))
    for typed, what in rows:
        output.say(f"  {typed:{wide}}  {what}")


_LISTED = 5
_PHASE_NAMES = {str(int(phase)): phase.name.lower() for phase in Phase}


@command("stats")
def stats_command(work: Work) -> None:
    """Show how memories grow, which are told and used, and what they saved you."""
    value, found = figures(work), stats(work, now())
    if work.as_json:
        output.emit({**value, **found.as_record()})
        return
    if not value["total"]:
        output.nothing(filtered=False)
        return
    first = found.weeks[0].start
    output.say(f"{value['project']['name']}, the last {len(found.weeks)} weeks (since {first})")
    for name, counts in (
        ("new memories", [each.added for each in found.weeks]),
        ("sessions", [each.sessions for each in found.weeks]),
    ):
        output.say(f"  {name:14}{_plot(counts)}  {sum(counts):,}")
    output.say(f"\n{counted(found.active, 'memory')} in use")
    kinds = {kind: count for kind, count in value["by_kind"].items() if count}
    for kind, count in sorted(kinds.items(), key=lambda each: -each[1]):
        output.say(f"  {kind:14}{_bar(count, max(kinds.values()))} {count:,}")
    for name, counts_of in (
        ("impact", found.impacts),
        ("scope", value["by_scope"]),
        ("phase", {_PHASE_NAMES[name]: count for name, count in value["by_phase"].items()}),
    ):
        said = ", ".join(f"{count:,} {name}" for name, count in counts_of.items() if count)
        output.say(f"  {name:14}{said}")
    output.say(f"  {'confidence':14}{found.sure:,} sure, {found.unsure:,} below {UNSURE_BELOW:.0%}")
    limit = work.config.get("inject.max_chars")
    budget = work.config.get("inject.context_window") * work.config.get("inject.budget_percent")
    output.say(
        f"\nThe next session is told {counted(found.shown, 'memory')} in"
        f" {counted(found.tokens, 'token')} of {budget // 100:,}"
        f" ({found.characters:,} of {limit:,} characters)."
    )
    output.say(
        f"{found.used:,} of {found.active:,} were found or opened, {found.used_lately:,} of them in"
        f" the last {LATELY.days} days."
    )
    _list_memories("Most often:", found.most_used, "time")
    _list_memories("Told to sessions and never looked up:", found.never_used, "session")
    if found.effects:
        rules, saved = counted(len(found.effects), "rule"), counted(found.saved, "correction")
        output.say(f"What you kept correcting: {rules} learned, about {saved} saved.")
    kept = sum(vault["bytes"] for vault in value["vaults"])
    said = file_size(value["said"]["bytes"])
    output.say(f"On the disk: {file_size(kept)} of memories, {said} of sessions.")
    if value["llm"]["calls_today"]:
        calls, tokens = value["llm"]["calls_today"], value["llm"]["tokens_today"]
        output.say(f"The model: {counted(calls, 'call')} and {tokens:,} tokens today.")


def _list_memories(head: str, memories: Sequence[tuple[Memory, int]], unit: str) -> None:
    if not memories:
        return
    output.say(head)
    for memory, count in memories[:_LISTED]:
        title = shortened(one_line(memory.title), 60)
        output.say(f"  {counted(count, unit):>12}  {output.shown_id(memory.id)}  {title}")
    if len(memories) > _LISTED:
        output.say(f"  … and {len(memories) - _LISTED:,} more")


def _plot(counts: Sequence[int]) -> str:
    """Numbers as a row of bars; a bar of its least height is none at all."""
    bars = "▁▂▃▄▅▆▇█" if sys.stdout.encoding.lower().startswith("utf") else "_.-=+*%#"
    most = max(1, *counts)
    return "".join(bars[-(-count * (len(bars) - 1) // most)] for count in counts)


def _bar(count: int, most: int) -> str:
    mark = "█" if sys.stdout.encoding.lower().startswith("utf") else "#"
    return mark * max(1, round(20 * count / most))
