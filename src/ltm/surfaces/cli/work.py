"""What every command starts from: the options all share, and the project's store behind them.

Owns `--project` and `--json`, and opening places, config and store once per call.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ltm.core.errors import NotFound
from ltm.core.model import Filter, Phase, Scope, Status, choice

if TYPE_CHECKING:
    from ltm.storage.config import Config
    from ltm.storage.places import Places
    from ltm.storage.store import Store

_F = TypeVar("_F", bound=Callable[..., Any])


class Work:
    """One call of a command: where it runs and what it may use, opened when first needed."""

    def __init__(self, project: str | None = None, as_json: bool = False) -> None:
        self.as_json = as_json
        self._folder = project

    @cached_property
    def places(self) -> Places:
        """Where things are for this project."""
        from ltm.storage.places import places

        folder = self._folder or _here()
        if not os.path.isdir(folder):
            raise NotFound("there is no such folder", path=folder)
        return places(folder)

    @cached_property
    def config(self) -> Config:
        """The options in force."""
        from ltm.storage.config import load

        return load(self.places.home, self.places.settings)

    @cached_property
    def store(self) -> Store:
        """The project's memories."""
        from ltm import __version__
        from ltm.storage.opening import open_store
        from ltm.storage.runtime import note_runtime

        store = open_store(self.places, self.config)
        context = click.get_current_context()
        context.call_on_close(store.close)
        # Hooks run on any Python; the work they leave for later needs one that has everything.
        context.call_on_close(lambda: note_runtime(self.places.home, __version__))
        return store


def _here() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise NotFound("the current folder was deleted", hint="cd somewhere else first") from None


def command(name: str, *, data: bool = True) -> Callable[[Callable[..., None]], click.Command]:
    """A command that gets a `Work` first; `data` gives it `--json`."""

    def make(function: Callable[..., None]) -> click.Command:
        @wraps(function)
        def call(project: str | None, as_json: bool = False, **arguments: Any) -> None:
            function(Work(project, as_json), **arguments)

        made: Callable[..., Any] = call
        if data:
            made = click.option("--json", "as_json", is_flag=True, help="Print one JSON value.")(
                made
            )
        made = click.option(
            "--project",
            metavar="DIR",
            type=click.Path(),
            help="The project's folder, instead of the current one.",
        )(made)
        return click.command(name)(made)

    return make


def kind_option(function: _F) -> _F:
    """`--kind`, once or several times."""
    return click.option("--kind", "-k", "kinds", multiple=True, help="Only this kind; repeatable.")(
        function
    )


def tag_option(function: _F) -> _F:
    """`--tag`, once or several times."""
    return click.option(
        "--tag", "-t", "tags", multiple=True, help="Only with this tag; repeatable."
    )(function)


def filter_options(function: _F) -> _F:
    """The options that say which memories are meant."""
    for option in (
        click.option("--scope", help="Only this scope: project or agent."),
        click.option("--status", help="active (default), superseded, forgotten, quarantined, all."),
        click.option("--phase", type=click.IntRange(0, 3), help="Only this phase, 0 to 3."),
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
) -> Filter:
    """The filter these options describe."""
    statuses: tuple[Status, ...] = (Status.ACTIVE,)
    if status:
        statuses = tuple(Status) if status.lower() == "all" else (choice(Status, status),)
    return Filter(
        kinds=tuple(work.config.kinds.parse(kind).name for kind in kinds),
        tags=tuple(tags),
        phases=() if phase is None else (Phase(phase),),
        statuses=statuses,
        scopes=(choice(Scope, scope),) if scope else (),
    )
