"""The options every command has (`--project`, `--json`), and those that choose memories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import wraps
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from ltm.cli import output
from ltm.cli.context import Work
from ltm.errors import WrongUsage
from ltm.kinds import Kinds
from ltm.model import Filter, Phase, Scope, Status, choice

__all__ = [
    "KINDS",
    "Number",
    "Work",
    "command",
    "filter_options",
    "group",
    "kind_option",
    "limit_option",
    "tag_option",
    "wanted",
]

KINDS = ", ".join(kind.name for kind in Kinds())
"""The kinds there are, for help texts."""

_READ = {"ask", "config", "graph", "inject", "list", "related", "show", "timeline", "why"}
"""Commands whose answer may be long, and is read page by page."""

_OF_TEAMS = {
    *("remember", "recall", "list", "show", "edit", "forget", "restore", "settle", "approve"),
    *("related", "export", "import"),
}
"""Commands that work on the memories of a team as well."""

_F = TypeVar("_F", bound=Callable[..., Any])


class Number(click.IntRange):
    """A whole number within bounds."""

    def convert(
        self, value: Any, param: click.Parameter | None, context: click.Context | None
    ) -> int:
        try:
            return int(super().convert(value, param, context))
        except click.BadParameter:
            bounds = f"of at least {self.min}"
            if self.max is not None:
                bounds = f"from {self.min} to {self.max}"
            self.fail(f"'{value}' is not a whole number {bounds}", param, context)


def command(name: str) -> Callable[[Callable[..., None]], click.Command]:
    """A command that gets a `Work` first and has `--project` and `--json`, and some `--team`."""

    def make(function: Callable[..., None]) -> click.Command:
        @click.command(name)
        @click.option(
            "--project",
            metavar="DIR",
            type=click.Path(),
            help="The project's folder, instead of the current one.",
        )
        @click.option("--json", "as_json", is_flag=True, help="Print one JSON value.")
        @wraps(function)
        def call(project: str | None, as_json: bool, team: str = "", **arguments: Any) -> None:
            reading = output.paged() if name in _READ and not as_json else nullcontext()
            with Work(project, as_json, team) as work, reading:
                function(work, **arguments)

        if name in _OF_TEAMS:
            call.params.insert(-2, click.Option(["--team"], metavar="NAME", default="", help=_TEAM))
        return call

    return make


def group(main: click.Command, parts: Sequence[click.Command]) -> click.Group:
    """A command with further commands below it."""

    def call(**arguments: Any) -> None:
        context = click.get_current_context()
        if context.invoked_subcommand is None:
            assert main.callback is not None
            main.callback(**arguments)
            return
        for name in arguments:
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                meant = f"ltm {main.name} {context.invoked_subcommand}"
                raise WrongUsage(
                    f"options come after '{meant}'", hint=f"see its options: {meant} --help"
                )

    return click.Group(
        main.name,
        commands=parts,
        params=main.params,
        callback=call,
        help=main.help,
        invoke_without_command=True,
    )


_TEAM = "The memories of a team this machine belongs to, instead of a project's."


def kind_option(function: _F) -> _F:
    """`--kind`, once or several times."""
    return click.option(
        "--kind", "-k", "kinds", metavar="KIND", multiple=True, help="Only this kind; repeatable."
    )(function)


def tag_option(function: _F) -> _F:
    """`--tag`, once or several times."""
    return click.option(
        "--tag", "-t", "tags", metavar="TAG", multiple=True, help="Only with this tag; repeatable."
    )(function)


def limit_option(default: int, *, most: int | None = None) -> Callable[[_F], _F]:
    """`--limit`: how many are printed."""
    return click.option(
        "--limit",
        "-n",
        metavar="N",
        type=Number(1, most),
        default=default,
        show_default=True,
        help="At most this many.",
    )


def filter_options(function: _F) -> _F:
    """The options that choose memories, in the form `wanted` takes."""
    for option in (
        click.option("--state", metavar="STATE", help="Only issues in this state: open, resolved."),
        click.option("--scope", metavar="SCOPE", help="Only this scope: project or agent."),
        click.option(
            "--status",
            metavar="STATUS",
            help="active (default), superseded, forgotten, quarantined or all.",
        ),
        click.option("--phase", metavar="N", type=Number(0, 3), help="Only this phase, 0 to 3."),
    ):
        function = option(function)
    return tag_option(kind_option(function))


def wanted(
    work: Work,
    kinds: tuple[str, ...],
    tags: tuple[str, ...],
    phase: int | None = None,
    status: str | None = None,
    scope: str | None = None,
    state: str | None = None,
) -> Filter:
    """The filter these options describe."""
    statuses: tuple[Status, ...] = (Status.ACTIVE,)
    if status:
        statuses = tuple(Status) if status.lower() == "all" else (choice(Status, status),)
    state = (state or "").strip().lower()
    states = dict.fromkeys(each for kind in work.config.kinds for each in kind.states)
    if state and state not in states:
        raise WrongUsage(f"'{state}' is not a state", hint=f"use one of: {', '.join(states)}")
    return Filter(
        kinds=tuple(work.config.kinds.parse(kind).name for kind in kinds),
        tags=tuple(tags),
        phases=() if phase is None else (Phase(phase),),
        statuses=statuses,
        scopes=(choice(Scope, scope),) if scope else (),
        state=state,
    )
