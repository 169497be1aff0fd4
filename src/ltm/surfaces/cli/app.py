"""The `ltm` command: which commands there are. How they end is in `ending`."""

from __future__ import annotations

from importlib import import_module

import click

from ltm import __version__
from ltm.surfaces.cli.ending import finish

COMMANDS = {
    "remember": "remember",
    "recall": "recall",
    "ask": "ask",
    "list": "list",
    "show": "show",
    "edit": "edit",
    "forget": "forget",
    "restore": "restore",
    "related": "related",
    "why": "why",
    "fix": "fix",
    "timeline": "timeline",
    "graph": "graph",
    "inject": "inject",
    "setup": "setup",
    "capture": "capture",
    "sessions": "sessions",
    "friction": "friction",
    "stash": "stash",
    "achievements": "achievements",
    "export": "export",
    "import": "import_",
    "init": "init",
    "sync": "sync",
    "status": "status",
    "stats": "stats",
    "upkeep": "upkeep",
    "consolidate": "consolidate",
    "doctor": "doctor",
    "approve": "approve",
    "trust": "trust",
    "keygen": "keygen",
    "sign": "sign",
    "verify": "verify",
    "uninstall": "uninstall",
    "mcp": "mcp",
    "serve": "serve",
    "config": "config",
    "demo": "demo",
    "completion": "completion",
    "drain": "drain",
}
"""Command name to module in this package; the module's `command` is the command."""


class Commands(click.Group):
    """A group that loads a command's module only when that command is meant."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        module = COMMANDS.get(name)
        if module is None:
            return None
        command = import_module(f"ltm.surfaces.cli.{module}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(context, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            raise click.UsageError(f"{error.message}{hint}", context) from None


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Memories are Markdown files you can read, edit and commit. Start with: ltm demo",
)
@click.version_option(__version__, "-V", "--version", message="ltm %(version)s")
def ltm() -> None:
    """Long-term memory for coding agents."""


def run() -> None:
    """Run the command line and leave with its exit code."""
    finish(_run)


def _run() -> object:
    try:
        return ltm.main(prog_name="ltm", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
