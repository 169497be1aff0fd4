"""The `ltm` command: the table of commands, each loaded when it is called."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from keyword import iskeyword

import click

from ltm import __version__
from ltm.cli.output import finish
from ltm.errors import WrongUsage

HELP = ["-h", "--help"]
"""What asks for help. Click keeps what it was first told, so a context of its own names it too."""

SECTIONS = {
    "Keep and find": {
        "remember": "Keep a text as a memory.",
        "recall": "Search memories and sessions.",
        "ask": "Answer a question from memories, with their ids.",
        "list": "List memories, newest first.",
        "show": "Show one memory in full, with its source.",
        "edit": "Change a memory.",
        "forget": "Forget memories, or erase them for good.",
        "restore": "Bring back a memory, or an earlier version of it.",
        "settle": "Decide which of two contradicting memories is right.",
        "ui": "See and correct memories in your browser.",
    },
    "Look back": {
        "related": "List memories connected to a memory.",
        "why": "Show what is known about a file or folder.",
        "fix": "Show how an error was fixed before.",
        "timeline": "List sessions and memories by date.",
        "graph": "Draw the links between memories.",
    },
    "Sessions": {
        "setup": "Connect Claude Code or another client.",
        "inject": "Print the memories the next session starts with.",
        "capture": "Learn from past sessions.",
        "review": "Keep or drop statements found in sessions.",
        "sessions": "List sessions; write and search their notes.",
        "stash": "Save the current session, to continue later.",
        "friction": "Find where sessions went wrong.",
        "achievements": "Keep releases and features from git.",
    },
    "Share and move": {
        "init": "Share this repository's memories through git.",
        "team": "Share memories across repositories, people and machines.",
        "sync": "Update MEMORY.md and the block in CLAUDE.md or AGENTS.md.",
        "remote": "Keep the same memories on all your machines.",
        "export": "Export memories to a file.",
        "import": "Import an export, or the memories of another tool.",
    },
    "Maintain": {
        "status": "Show where memories are and what needs attention.",
        "stats": "Show growth and use of memories, and what they saved.",
        "bench": "Measure recall, hooks and capture on your own memories.",
        "upkeep": "Shorten memories that have not been used for long.",
        "consolidate": "Merge memories that say the same.",
        "doctor": "Find problems and repair them.",
        "config": "List, print or set options.",
    },
    "Trust": {
        "approve": "Approve memories from untrusted sources.",
        "trust": "Trust the memories that came with this repository.",
        "keygen": "Create the key that memories are signed with.",
        "sign": "Sign memories.",
        "verify": "Check signatures.",
    },
    "More": {
        "demo": "Play a recorded session and show what it taught.",
        "mcp": "Run the MCP server; clients start this.",
        "hook": "Handle an event of a session; clients run this.",
        "serve": "Serve hooks and MCP over HTTP, for containers.",
        "statusline": "Print a line for the client's status line.",
        "completion": "Print the completion script for a shell.",
        "uninstall": "Remove ltm from the settings of clients.",
    },
}
"""The commands as they are listed in the help, each with what it does in one short line."""

COMMANDS = (*(name for section in SECTIONS.values() for name in section), "drain")

SHARED = {
    "capture": ("achievements",),
    "edit": ("settle",),
    "forget": ("restore",),
    "quarantine": ("approve", "trust"),
    "related": ("graph",),
    "servers": ("mcp", "serve", "hook", "ui", "statusline", "completion"),
    "setup": ("uninstall",),
    "signing": ("keygen", "sign", "verify"),
    "status": ("stats",),
    "upkeep": ("consolidate", "drain"),
}
"""Modules that hold commands of other names: each is the function `NAME_command`."""

_MODULES = {name: module for module, names in SHARED.items() for name in names}

ALIASES = {
    "help": "--help",
    "version": "--version",
    # what other tools call it
    "add": "remember",
    "save": "remember",
    "store": "remember",
    "note": "remember",
    "search": "recall",
    "find": "recall",
    "grep": "recall",
    "ls": "list",
    "get": "show",
    "view": "show",
    "cat": "show",
    "open": "show",
    "update": "edit",
    "change": "edit",
    "rm": "forget",
    "del": "forget",
    "delete": "forget",
    "remove": "forget",
    "undo": "restore",
    "undelete": "restore",
    "recover": "restore",
    "conflicts": "settle",
    "pending": "review",
    "candidates": "review",
    "waiting": "approve",
    "log": "timeline",
    "history": "timeline",
    "info": "status",
    "check": "doctor",
    "options": "config",
    "settings": "config",
    "install": "setup",
    "context": "inject",
    "web": "ui",
    "browse": "ui",
    "dashboard": "ui",
    # claude-ltm
    "store-memory": "remember",
    "get-memory": "show",
    "list-memories": "list",
    "ltm-status": "status",
    "ltm-check": "doctor",
    "ltm-fix": "doctor --fix",
    # Claude-LTM (Anima)
    "please-remember": "remember",
    "memories": "list",
    "memory-stats": "stats",
    "memory-graph": "graph",
    "memory-export": "export",
    "memory-import": "import",
    "sign-memories": "sign",
    "detect-achievements": "achievements",
    "refresh-memories": "inject",
    "import-seeds": "import",
    # memory-mcp
    "memory-save": "remember",
    "memory-recall": "list",
    "memory-search": "recall",
    "memory-related": "related",
    "memory-ask": "ask",
    "memory-delete": "forget",
    "memory-consolidate": "consolidate",
    "memory-consciousness": "inject",
    # Memory Keeper
    "save-memory": "remember",
    "load-memory": "inject",
    "search-memory": "recall",
    "clear-memory": "forget --all",
    "clear-facts": "forget --kind decision --kind pattern --kind issue",
    "add-decision": "remember --kind decision",
    "add-pattern": "remember --kind pattern",
    "add-issue": "remember --kind issue",
    "extract-facts": "sessions facts",
    "compress": "sessions compress",
}
"""Other words for a command, those of other tools among them, and the command that is meant."""

_FURTHER = {
    "add-decision": ("--reason", "--tags"),
    "add-pattern": ("--tags",),
    "add-issue": ("--state", "--tags"),
}
"""The options that the second and third text of such a word stand for."""

_MODES = {
    "clear-memory": {
        "all": "--all",
        "old": "--older-than 30",
        "facts": "--kind decision --kind pattern --kind issue",
    },
    "clear-facts": {
        "decisions": "--kind decision",
        "patterns": "--kind pattern",
        "issues": "--kind issue",
    },
}
"""What the first text of such a word chooses, instead of what the word means by itself."""

OTHERWISE = {
    "key": "a model is optional: ltm config llm.backend claude",
    "snapshots": "earlier versions are listed by: ltm show ID",
    "snapshot-enable": "every change is kept: ltm show ID, ltm restore ID --version N",
    "snapshot-disable": "former texts are erased only by: ltm forget ID --purge",
    "snapshot-restore": "go back with: ltm restore ID --version N",
    "snapshot-diff": "earlier versions are listed by: ltm show ID",
    "reset": "nothing counts here that could be reset; forget many: ltm forget --all --dry-run",
    "final": "sessions are saved by hooks: ltm setup, or at once with: ltm capture",
    "login": "there is no account: memories are files on this machine",
    "pull": "memories of a repository come with git (ltm init), your own with: ltm remote now",
    "push": "memories of a repository go with git (ltm init), your own with: ltm remote now",
    "backup": "write all memories to a file: ltm export FILE",
}
"""Words of other tools for which there is no command, and what to do instead."""


_NEAR = 0.75
"""How alike a word that does not exist and one that does are for it to be meant."""
_NO_COMMAND = re.compile(r"No such command '(.+?)'")
_UNEXPECTED = re.compile(r"Got unexpected extra arguments? \((.*)\)\Z")


class _Unread(Exception):
    """The reader of the output is gone. Raised so that the library does not report it."""


class Commands(click.Group):
    """A group that loads a command's module only when that command is called."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(context, as_meant(args))

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = _MODULES.get(name) or (f"{name}_" if iskeyword(name) else name)
        command = getattr(import_module(f"ltm.cli.{module}"), f"{name}_command")
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
        except click.UsageError:
            near = get_close_matches(args[0], COMMANDS, n=1)
            question = " ".join(args)
            hint = "list them all with: ltm help"
            if near:
                hint = f"did you mean '{near[0]}'?"
            elif " " in question:
                hint = f"to search, type: ltm recall {question}"
            hint = OTHERWISE.get(_plain(args[0]), hint)
            raise WrongUsage(f"there is no command '{args[0]}'", hint=hint) from None


def as_meant(words: list[str]) -> list[str]:
    """What was typed, with the command that is meant by another word for it."""
    if not words or words[0] in COMMANDS:
        return words
    name, rest = _plain(words[0]), words[1:]
    meant = ALIASES.get(name)
    if meant is None:
        return words
    further = _FURTHER.get(name, ())
    if further and not any(word.startswith("-") for word in rest):
        named = zip(further, rest[1:], strict=False)
        rest = [*rest[:1], *(word for pair in named for word in pair if all(pair))]
    mode = _MODES.get(name, {}).get(_plain(rest[0])) if rest else None
    if mode:
        meant, rest = f"forget {mode}", rest[1:]
    # `ltm help recall` is `ltm recall --help`
    return [*as_meant(rest), meant] if meant == "--help" else [*meant.split(), *rest]


def _plain(word: str) -> str:
    return word.lower().replace("_", "-")


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": HELP},
    epilog="""\b
ltm help COMMAND              how a command is used
ltm demo                      see it work
Other words work too, such as add, search, ls and rm.""",
)
@click.version_option(__version__, "-V", "--version", message="ltm %(version)s")
@click.pass_context
def ltm(context: click.Context) -> None:
    """Long-term memory for coding agents: Markdown files you can read, edit and commit."""
    if context.invoked_subcommand is None:
        import_module("ltm.cli.status").overview()


def run() -> None:
    """Run the command line and leave with its exit code."""
    finish(_run)


def _run() -> object:
    try:
        return ltm.main(prog_name="ltm", standalone_mode=False)
    except click.UsageError as error:
        raise _wrong_usage(error) from None
    except _Unread:
        raise BrokenPipeError from None
    except click.Abort:
        raise KeyboardInterrupt from None


def _wrong_usage(error: click.UsageError) -> WrongUsage:
    """A mistake in the words of a command, in the form of every other error."""
    message, context = " ".join(error.format_message().split()).rstrip("."), error.ctx
    # The library does not say of which command an option lacks its value.
    path = context.command_path if context else " ".join(["ltm", *as_meant(sys.argv[1:])[:1]])
    hint = f"see: {path} --help"
    if isinstance(error, click.NoSuchOption):
        message = f"there is no option '{error.option_name}'"
        hint = _nearest(error.option_name, error.possibilities or ()) or hint
    elif isinstance(error, click.MissingParameter) and context:
        message = message.partition(". Choose from")[0]
        hint = f"type: {_usage(context)}"
    elif context and (found := _NO_COMMAND.match(message)):
        assert isinstance(context.command, click.Group)
        message = f"there is no command '{path} {found[1]}'"
        hint = _nearest(found[1], context.command.list_commands(context)) or hint
    elif context and (found := _UNEXPECTED.match(message)):
        message = f"'{path}' does not take: {found[1]}"
        hint = f"type: {_usage(context)}"
        if path == "ltm list":
            hint = f"search with: ltm recall {found[1]}"
    return WrongUsage(message[:1].lower() + message[1:], hint=hint)


def _nearest(word: str, known: Iterable[str]) -> str:
    """What may be meant by a word that does not exist; '' where nothing is near it."""
    begun = sorted(each for each in known if each.startswith(word))
    near = begun or get_close_matches(word, known, n=1, cutoff=_NEAR)
    return f"did you mean {' or '.join(near)}?" if near else ""


def _usage(context: click.Context) -> str:
    return " ".join(context.get_usage().removeprefix("Usage: ").split())
