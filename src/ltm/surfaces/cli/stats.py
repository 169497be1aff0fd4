"""`ltm stats`: the counts behind the status."""

from __future__ import annotations

from ltm.surfaces.cli import output
from ltm.surfaces.cli.figures import figures
from ltm.surfaces.cli.work import Work
from ltm.surfaces.cli.work import command as make


@make("stats")
def command(work: Work) -> None:
    """Count memories by kind, phase, status and scope, and what they take on the disk."""
    value = figures(work)
    if work.as_json:
        output.emit(value)
        return
    rows = [
        (group.removeprefix("by_"), name, str(count))
        for group in ("by_kind", "by_status", "by_phase", "by_scope")
        for name, count in value[group].items()
    ]
    rows += [
        ("model", "calls today", f"{value['llm']['calls_today']} of {value['llm']['cap']}"),
        (
            "model",
            "tokens today",
            f"{value['llm']['tokens_today']} of {value['llm']['tokens_cap']}",
        ),
    ]
    rows += [
        ("said", name, f"{value['said'][name]:,}") for name in ("sessions", "passages", "bytes")
    ]
    rows += [("storage", vault["name"], f"{vault['bytes']:,} bytes") for vault in value["vaults"]]
    output.table(("count", "of", "how many"), rows)
