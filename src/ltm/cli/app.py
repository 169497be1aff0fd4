"""The `ltm` command: the table of commands, each loaded when it is meant."""

from __future__ import annotations

from importlib import import_module
from keyword import iskeyword

import click

from ltm import __version__
from ltm.cli.output import finish

SECTIONS = {
    "Keep and find": {
        "remember": "Keep a text as a memory.",
        "recall": "Find what answers a question, a path or an error message.",
        "ask": "Answer a question, with the ids the answer rests on.",
        "list": "List memories, the newest first.",
        "show": "Show one memory, whole, and where it came from.",
        "edit": "Change a memory.",
        "forget": "Forget a memory, or leave no byte of it.",
        "restore": "Bring back a memory, or a former text of it.",
        "settle": "Say which of two memories that disagree holds.",
    },
    "Look back": {
        "related": "Show what hangs together with a memory.",
        "why": "Tell what is known about a file or folder.",
        "fix": "Tell how an error was solved before.",
        "timeline": "Tell what happened when.",
        "graph": "Draw how memories hang together.",
    },
    "Sessions": {
        "setup": "Connect Claude Code or another client.",
        "inject": "Print what the next session would be told.",
        "capture": "Learn from the sessions you had before.",
        "review": "Keep or drop what sessions likely taught.",
        "sessions": "List sessions; search and keep their notes.",
        "stash": "Put the current session aside, to go on from later.",
        "friction": "Find where sessions went wrong.",
        "achievements": "Keep releases and features from git.",
    },
    "Share and move": {
        "init": "Share this repository's memories through git.",
        "sync": "Write MEMORY.md and the block in CLAUDE.md or AGENTS.md.",
        "export": "Write all memories to a file.",
        "import": "Take in an export, or what another tool kept.",
    },
    "Look after": {
        "status": "Say where memories are, and whether all is well.",
        "stats": "Count memories, and what they take on the disk.",
        "upkeep": "Shorten what was not needed for long.",
        "consolidate": "Merge what says the same; remember all that waits.",
        "doctor": "Find what is wrong, and repair it.",
        "config": "List, print or set options.",
    },
    "Trust": {
        "approve": "Approve memories whose source is not trusted.",
        "trust": "Trust the memories that came with this repository.",
        "keygen": "Make the key that memories are signed with.",
        "sign": "Sign memories.",
        "verify": "Check signatures.",
    },
    "More": {
        "demo": "Play a recorded session and what it taught; leaves nothing.",
        "mcp": "Serve an agent over MCP; clients start this.",
        "hook": "Take an event of a session; clients run this.",
        "serve": "Serve hooks and MCP over HTTP, for containers.",
        "completion": "Print the completion script for a shell.",
        "uninstall": "Take everything out of clients' settings again.",
    },
}
"""The commands as a person looks for them, and what each does in one short line."""

COMMANDS = (*(name for section in SECTIONS.values() for name in section), "drain")
"""Every command. It is the `command` of the module of its name, or in one of `SHARED`."""

SHARED = {
    "forget": ("forget", "restore"),
    "quarantine": ("approve", "trust"),
    "related": ("related", "graph"),
    "servers": ("mcp", "serve", "hook", "drain", "completion"),
    "setup": ("setup", "uninstall"),
    "signing": ("keygen", "sign", "verify"),
    "status": ("status", "stats"),
    "upkeep": ("upkeep", "consolidate"),
}
"""Modules of several commands, each named `NAME_command`."""

_MODULES = {name: module for module, names in SHARED.items() for name in names}


class _Unread(Exception):
    """The reader of the output is gone. Raised so that the library does not report it."""


class Commands(click.Group):
    """A group that loads a command's module only when that command is meant."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = _MODULES.get(name) or (f"{name}_" if iskeyword(name) else name)
        attribute = f"{name}_command" if name in _MODULES else "command"
        command = getattr(import_module(f"ltm.cli.{module}"), attribute)
        assert isinstance(command, click.Command)
        return command

    def invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except BrokenPipeError as error:
            raise _Unread from error

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, COMMANDS))
        for heading, commands in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(widest), does) for name, does in commands.items()])

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
    epilog="""\b
ltm demo                      see it work
ltm remember "some text"      keep something
ltm COMMAND --help            how a command is used""",
)
@click.version_option(__version__, "-V", "--version", message="ltm %(version)s")
def ltm() -> None:
    """Long-term memory for coding agents: Markdown files you can read, edit and commit."""


def run() -> None:
    """Run the command line and leave with its exit code."""
    finish(_run)


def _run() -> object:
    try:
        return ltm.main(prog_name="ltm", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except _Unread:
        raise BrokenPipeError from None
    except click.Abort:
        raise KeyboardInterrupt from None
