"""`ltm status` and `ltm stats`: the figures of a project, and what needs attention."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import closing
from itertools import zip_longest
from typing import Any

from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.cli.stash import nudge
from ltm.config.config import problems_in
from ltm.embed.embedder import standing
from ltm.history.db import Passages
from ltm.llm.model import model_figures, model_lines
from ltm.model import Phase, Problem, Scope, Status
from ltm.notes.stash import Stashes
from ltm.state.candidates import Candidates
from ltm.store.other_tools import foreign
from ltm.store.trust import unproven, waiting
from ltm.text.display import counted
from ltm.upkeep import plan
from ltm.vault import key_file


def figures(work: Work) -> dict[str, Any]:
    """Counts by kind, phase, status and scope, sessions, storage, and model calls today."""
    by: dict[str, Counter[str]] = {name: Counter() for name in ("kind", "scope", "status", "phase")}
    active = 0
    for kind, scope, status, phase, count in work.store.counts():
        by["status"][status] += count
        if status != Status.ACTIVE:
            continue
        active += count
        by["kind"][kind] += count
        by["scope"][scope] += count
        by["phase"][str(phase)] += count
    places = work.places
    quarantined, untrusted = waiting(work.store, places)
    key = key_file.load(places.home)
    vaults = [
        {"name": name, "path": folder, **_size(folder)}
        for name, folder in (
            ("shared", places.shared if places.shared_exists else ""),
            ("private", places.private),
            ("agent", places.agent_folder),
        )
        if folder and os.path.isdir(os.path.join(folder, "memories"))
    ]
    return {
        "project": {
            "id": places.project.id,
            "name": places.project.name,
            "root": places.project.root,
        },
        "agent": places.agent,
        "total": sum(by["status"].values()),
        "active": active,
        "by_kind": {kind.name: by["kind"][kind.name] for kind in work.config.kinds},
        "by_phase": {str(int(phase)): by["phase"][str(int(phase))] for phase in Phase},
        "by_status": {str(status): by["status"][status] for status in Status},
        "by_scope": {str(scope): by["scope"][scope] for scope in Scope},
        "waiting": {
            "quarantined": quarantined,
            "untrusted": untrusted,
            "stashes": Stashes(places.project.root, places.private).waiting(),
            "candidates": len(Candidates(places.private).waiting()),
        },
        "unproven": [{"path": each.path, "message": each.message} for each in unproven(places)],
        "held": plan.waiting_masses(places),
        "foreign": [
            {"path": each.path, "line": each.line, "message": each.message, "new": each.is_new}
            for each in foreign(places)
        ],
        "signing": "" if key is None else key.id,
        "sessions": work.store.sessions(),
        "said": _said(places.sessions_db),
        "problems": len(work.store.problems()) + len(problems_in(work.config, places.home)),
        "storage": {
            "path": vaults[0]["path"] if vaults else places.private,
            "bytes": sum(vault["bytes"] for vault in vaults),
        },
        "vaults": vaults,
        "home": places.home,
        "llm": model_figures(places, work.config),
        "vectors": standing(work.config)._asdict(),
    }


def _said(path: str) -> dict[str, int | str]:
    """How much of this project's sessions is kept word for word."""
    with closing(Passages(path, readonly=True)) as passages:
        size = passages.size()
    found = {"sessions": size.sessions, "passages": size.passages, "bytes": size.bytes}
    return {"path": path, **found}


def _size(folder: str) -> dict[str, int]:
    memories = bytes_ = 0
    for part in ("memories", "archives"):
        try:
            with os.scandir(os.path.join(folder, part)) as entries:
                for entry in entries:
                    if entry.name.endswith(".md"):
                        bytes_ += entry.stat(follow_symlinks=False).st_size
                        memories += part == "memories"
        except OSError:
            continue
    return {"memories": memories, "bytes": bytes_}


@command("status")
def status_command(work: Work) -> None:
    """Show where this project's memories are, how many there are, and what needs attention."""
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
            f"sessions  {value['sessions']}; {said['sessions']} searchable word for word"
            f" ({counted(said['passages'], 'passage')}, {said['bytes'] / 1e6:.1f} MB)"
        )
    else:
        output.say("sessions  none yet (read past ones with: ltm capture --all)")
    if value["signing"]:
        output.say(f"key       {value['signing']}: new memories are signed")
    for head, line in zip_longest(("model",), model_lines(value["llm"]), fillvalue=""):
        output.say(f"{head:10}{line}")
    vectors = value["vectors"]
    hint = f" (better with: {vectors['hint']})" if vectors["hint"] else ""
    output.say(f"vectors   {vectors['said']}{hint}")
    waiting = value["waiting"]
    for name, what, hint in (
        ("quarantined", "memory", "waiting for approval: look with 'ltm approve'"),
        ("candidates", "candidate", "from sessions to keep or drop: look with 'ltm review'"),
        (
            "untrusted",
            "memory",
            "came with this repository, not used until you trust it: look"
            " with 'ltm list', then type: ltm trust",
        ),
    ):
        if waiting[name]:
            output.note(f"{counted(waiting[name], what)} {hint}")
    for each in value["unproven"]:
        output.note(output.problem(Problem(each["path"], each["message"], ill=False)))
    for each in value["foreign"]:
        output.note(output.problem(Problem(each["path"], each["message"], each["line"], ill=False)))
    for name, said in value["held"].items():
        output.note(plan.mass_message(name, said))
    nudge(waiting["stashes"])
    for problem in (*problems_in(work.config, work.places.home), *work.store.problems()):
        output.note(output.problem(problem))
    if value["problems"]:
        output.note("See them all with: ltm doctor")


@command("stats")
def stats_command(work: Work) -> None:
    """Count memories by kind, status, phase and scope, and the disk space they take."""
    value = figures(work)
    if work.as_json:
        output.emit(value)
        return
    rows = [
        (group.removeprefix("by_"), name, str(count))
        for group in ("by_kind", "by_status", "by_phase", "by_scope")
        for name, count in value[group].items()
    ]
    llm, said = value["llm"], value["said"]
    rows.append(("model", "calls today", f"{llm['calls_today']} of {llm['cap']}"))
    rows.append(("model", "tokens today", f"{llm['tokens_today']} of {llm['tokens_cap']}"))
    rows += [("said", name, f"{said[name]:,}") for name in ("sessions", "passages", "bytes")]
    rows += [("storage", vault["name"], f"{vault['bytes']:,} bytes") for vault in value["vaults"]]
    output.table(("count", "of", "how many"), rows)
