"""`ltm upkeep`, `ltm consolidate` and the hidden `ltm drain`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.cli.main import drain_home
from ltm.cli.sync import has_markers
from ltm.errors import ModelFailed
from ltm.llm.model import open_model
from ltm.model import now
from ltm.state.model_log import ModelLog
from ltm.text.display import counted
from ltm.upkeep import plan as fading
from ltm.upkeep.consolidate import ConsolidationStep, apply, plan, propose
from ltm.upkeep.plan import Mass, Upkeep, due, let_through, limits_of, run
from ltm.worker.reflect import Reflected, reflect


@command("upkeep")
@click.option("--dry-run", "-n", is_flag=True, help="Only show what would happen.")
@click.option("--yes", "-y", is_flag=True, help="Even if it archives very many at once.")
def upkeep_command(work: Work, dry_run: bool, yes: bool) -> None:
    """Shorten memories that have not been used for long. `ltm restore` undoes it.

    It runs automatically at the end of sessions. Critical and pinned memories never fade. More than
    30 % of the active memories are archived at once only with --yes.
    """
    limits = limits_of(work.config)
    if dry_run:
        actions = due(work.store, now=now(), limits=limits)
        outcome = Upkeep(tuple(actions), held=let_through(work.store, actions, consent=yes)[1])
    else:
        outcome = run(work.store, now=now(), limits=limits, consent=yes)
        fading.note_masses_in(work.places, fading.UPKEEP, outcome.held)
    if work.as_json:
        skipped = [{**action.as_record(), "skipped": why} for action, why in outcome.skipped]
        output.emit(
            {
                "actions": [each.as_record() for each in outcome.done],
                "skipped": skipped,
                "held": [each.as_record() for each in outcome.held],
            }
        )
    else:
        _show_upkeep(outcome, dry_run)
    if outcome.held and not dry_run:
        click.get_current_context().exit(1)


def _show_upkeep(outcome: Upkeep, dry_run: bool) -> None:
    actions = outcome.done
    for action, why in outcome.skipped:
        output.note(f"{output.shown_id(action.id)} was not changed: {why}")
    for mass in outcome.held:
        output.note(fading.mass_message(fading.UPKEEP, str(mass)))
    if not actions:
        if not outcome.held:
            output.note("Nothing to do.")
        return
    output.table(
        ("id", "action", "phase", "reason"),
        [
            (
                output.shown_id(each.id),
                each.action,
                f"{int(each.from_phase)} to {int(each.to_phase)}",
                each.reason,
            )
            for each in actions
        ],
    )
    output.note("Nothing was changed." if dry_run else "Undo one with: ltm restore ID")


@command("consolidate")
@click.option("--all", "everything", is_flag=True, help="Also sessions, stashes and preferences.")
@click.option("--dry-run", "-n", is_flag=True, help="Only show what would happen.")
@click.option("--yes", "-y", is_flag=True, help="Even if it merges very many at once.")
def consolidate_command(work: Work, everything: bool, dry_run: bool, yes: bool) -> None:
    """Merge memories that say the same, and archive what has long been out of date.

    The best wording stays and gains what the others add; the others are marked as replaced and
    come back with `ltm restore`. It runs automatically during sessions and at their end. A model,
    if you configured one (llm.backend), proposes more merges, which are checked. More than 30 % of
    the active memories are merged at once only with --yes.

    With --all, memories are first made of the unread part of sessions, of stashes (`ltm stash`) and
    of recurring corrections (`ltm friction`): seen in fewer than 3 conversations, one is a guess;
    from 5 on, sessions get it. Then MEMORY.md and the block in CLAUDE.md are written. Repeating it
    changes nothing.
    """
    held = _all(work, dry_run, yes) if everything else _repetitions(work, dry_run, yes)
    if held and not dry_run:
        click.get_current_context().exit(1)


def _repetitions(work: Work, dry_run: bool, yes: bool) -> Sequence[Mass]:
    steps = plan(work.store, now())
    through, held = let_through(work.store, steps, consent=yes)
    if not dry_run:
        steps = apply(work.store, through)
        through, more = let_through(work.store, _proposed(work), consent=yes)
        steps += apply(work.store, through)
        held += more
        fading.note_masses_in(work.places, fading.CONSOLIDATE, held)
    if work.as_json:
        output.emit(
            {
                "actions": [step.as_record() for step in steps],
                "held": [mass.as_record() for mass in held],
            }
        )
        return held
    _show_held(held)
    if steps:
        _show_merged(steps)
        output.note("Nothing was changed." if dry_run else "Undo one with: ltm restore ID")
    elif not held:
        output.note("No memories to merge.")
    return held


def _show_held(held: Sequence[Mass]) -> None:
    for mass in held:
        output.note(fading.mass_message(fading.CONSOLIDATE, str(mass)))


def _all(work: Work, dry_run: bool, yes: bool) -> Sequence[Mass]:
    bar = click.progressbar(
        length=1, label="Remembering", file=sys.stderr, hidden=not sys.stderr.isatty()
    )
    with bar:

        def tell(total: int) -> None:
            bar.length = total
            bar.update(1)

        done = reflect(work, now=now(), dry_run=dry_run, consent=yes, tell=tell)
    if work.as_json:
        output.emit(_record(done))
        return done.held
    if done.sessions and dry_run:
        output.say(f"{counted(done.sessions, 'session')} to read")
    elif done.sessions:
        output.say(
            f"{counted(done.sessions, 'session')} read: {output.captured_line(done.captured)}"
        )
    for stash in done.stashes:
        waits = " (from elsewhere: waits for ltm approve)" if stash["quarantined"] else ""
        output.say(
            f"stash {stash['name']}: {len(stash['added'])} added,"
            f" {len(stash['superseded'])} replaced, {len(stash['reinforced'])} confirmed,"
            f" {stash['known']} known already{waits}"
        )
    for step in done.preferences:
        output.say(
            f"preference {step.action}: {step.text} ({step.tier}, {step.before} to {step.after}:"
            f" {step.reason})"
        )
    _show_merged(done.merged)
    _show_held(done.held)
    for path in done.written:
        output.say(f"wrote {path}")
    if done.written and not has_markers(work):
        output.note("To keep the most important in CLAUDE.md too, type: ltm sync --claude-md")
    for problem in done.problems:
        output.note(output.problem(problem))
    if done.model:
        output.note(f"The model did not help: {done.model}")
    if done.is_empty and not done.held:
        output.note("No memories to add or merge.")
    elif dry_run:
        output.note("Nothing was changed.")
    return done.held


def _record(done: Reflected) -> dict[str, object]:
    return {
        "dry_run": done.dry_run,
        "sessions": {"read": done.sessions, **output.captured_record(done.captured)},
        "stashes": done.stashes,
        "preferences": [step.as_record() for step in done.preferences],
        "actions": [step.as_record() for step in done.merged],
        "held": [mass.as_record() for mass in done.held],
        "written": list(done.written),
        "problems": [{"path": each.path, "message": each.message} for each in done.problems],
        "llm_error": done.model,
    }


def _show_merged(steps: Sequence[ConsolidationStep]) -> None:
    if not steps:
        return
    output.table(
        ("id", "action", "takes in", "reason"),
        [
            (
                output.shown_id(step.id),
                step.action,
                ", ".join(map(output.shown_id, step.ids)),
                step.reason,
            )
            for step in steps
        ],
    )


def _proposed(work: Work) -> list[ConsolidationStep]:
    """What the user's model proposes on top, if one is switched on and answers."""
    log = ModelLog(work.places.state_db)
    try:
        model = open_model(work.config, work.places.home, log)
        return propose(work.store, model) if model is not None else []
    except ModelFailed as error:
        output.note(f"The model did not help: {error}")
        return []
    finally:
        log.close()


@command("drain")
def drain_command(work: Work) -> None:
    """Process the events that hooks left, then end."""
    drain_home(work.as_json)


drain_command.hidden = True
