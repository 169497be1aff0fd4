"""`ltm status`: is it working, and what is there."""

from __future__ import annotations

from itertools import zip_longest

from ltm.core.counting import counted
from ltm.core.model import Problem
from ltm.storage.config import problems_in
from ltm.surfaces import masses
from ltm.surfaces.cli import output
from ltm.surfaces.cli.figures import figures
from ltm.surfaces.cli.stash import nudge
from ltm.surfaces.cli.work import Work
from ltm.surfaces.cli.work import command as make
from ltm.surfaces.spend import model_lines


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
    said = value["said"]
    if value["sessions"] or said["sessions"]:
        output.say(
            f"sessions  {value['sessions']}; of {said['sessions']} every word can be searched"
            f" ({counted(said['passages'], 'passage')}, {said['bytes'] / 1e6:.1f} MB)"
        )
    else:
        output.say("sessions  none yet (those from before: ltm capture --all)")
    if value["signing"]:
        output.say(f"key       {value['signing']}: what is kept is signed")
    for head, line in zip_longest(("model",), model_lines(value["llm"]), fillvalue=""):
        output.say(f"{head:10}{line}")
    vectors = value["vectors"]
    hint = f" (better with: {vectors['hint']})" if vectors["hint"] else ""
    output.say(f"vectors   {vectors['said']}{hint}")
    waiting = value["waiting"]
    if waiting["quarantined"]:
        count = counted(waiting["quarantined"], "memory")
        output.note(f"{count} waiting for approval: look with 'ltm approve'")
    if waiting["untrusted"]:
        output.note(
            f"{counted(waiting['untrusted'], 'memory')} came with this repository, not told until"
            " you trust it: look with 'ltm list', then type: ltm trust"
        )
    for each in value["unproven"]:
        output.note(output.problem(Problem(each["path"], each["message"], ill=False)))
    for each in value["foreign"]:
        output.note(output.problem(Problem(each["path"], each["message"], each["line"], ill=False)))
    for name, said in value["held"].items():
        output.note(masses.told(name, said))
    nudge(waiting["stashes"])
    for problem in (*problems_in(work.config, work.places.home), *work.store.problems()):
        output.note(output.problem(problem))
    if value["problems"]:
        output.note("See them all with: ltm doctor")
