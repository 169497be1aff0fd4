"""`ltm status`: is it working, and what is there."""

from __future__ import annotations

from ltm.surfaces.cli import output
from ltm.surfaces.cli.figures import figures
from ltm.surfaces.cli.work import Work
from ltm.surfaces.cli.work import command as make


@make("status")
def command(work: Work) -> None:
    """Say where this project's memories are, how many there are, and whether anything is wrong."""
    value = figures(work)
    if work.as_json:
        output.emit(value)
        return
    output.say(f"project   {value['project']['name']}  ({value['project']['id']})")
    output.say(f"agent     {value['agent']}")
    output.say(f"memories  {value['active']} active, {value['total']} in all")
    for vault in value["vaults"]:
        output.say(f"  {vault['name']:8}{vault['memories']:5}  {vault['path']}")
    output.say(f"sessions  {value['sessions']}")
    output.say(f"model     {value['llm']['calls_today']} calls today")
    for problem in work.store.problems():
        output.note(f"problem: {problem.path}:{problem.line}: {problem.message}")
    if value["problems"]:
        output.note("See them all with: ltm doctor")
