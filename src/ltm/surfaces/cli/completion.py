"""`ltm completion`: what a shell needs to complete commands and options."""

from __future__ import annotations

import click

from ltm.surfaces.cli.work import Work
from ltm.surfaces.cli.work import command as make


@make("completion", data=False)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(work: Work, shell: str) -> None:
    """Print the completion script for bash, zsh or fish.

    \b
    bash:  eval "$(ltm completion bash)"    in ~/.bashrc
    zsh:   eval "$(ltm completion zsh)"     in ~/.zshrc
    fish:  ltm completion fish | source     in config.fish
    """
    from click.shell_completion import get_completion_class

    from ltm.surfaces.cli.app import ltm

    completion = get_completion_class(shell)
    assert completion is not None
    click.echo(completion(ltm, {}, "ltm", "_LTM_COMPLETE").source())
