"""`ltm config`: see and set options."""

from __future__ import annotations

import os

import click

from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.config import config
from ltm.config.options import OPTIONS
from ltm.errors import WrongUsage


@command("config")
@click.argument("name", required=False)
@click.argument("value", required=False)
@click.option("--unset", is_flag=True, help="Go back to the default.")
@click.option("--repo", is_flag=True, help="In the repository's config, shared with the team.")
def config_command(
    work: Work, name: str | None, value: str | None, unset: bool, repo: bool
) -> None:
    """List all options, print option NAME, or set it to VALUE.

    \b
    ltm config                       every option, its value and what it means
    ltm config max_memories          one value
    ltm config max_memories 200      set it for you, in all projects
    ltm config kinds.progress.fades_days 14
    ltm config --unset max_memories  back to the default
    """
    if unset and (name is None or value is not None):
        raise WrongUsage("--unset takes one NAME", hint="try: ltm config --unset max_memories")
    folder = work.places.shared if repo else work.places.home
    path = os.path.join(folder, config.CONFIG_FILE)
    if name and (value is not None or unset):
        if unset:
            config.unset_option(path, name, shared=repo)
        else:
            config.set_option(path, name, value or "", shared=repo)
        work = work.again(work.places.project.root)
    if name:
        current = work.config.value(name)
        if work.as_json:
            output.emit({"name": name, "value": current})
        else:
            output.say(_typed(current))
        return
    rows = [(option, work.config.get(option.name)) for option in OPTIONS]
    if work.as_json:
        output.emit({option.name: current for option, current in rows})
        return
    output.glossary((option.name, _typed(current), option.doc) for option, current in rows)


def _typed(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
