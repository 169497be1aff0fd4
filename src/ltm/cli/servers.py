"""The commands that clients and hooks start: `mcp`, `serve`, `hook`, `drain`; and `completion`."""

from __future__ import annotations

import os
from importlib.resources import files
from typing import TYPE_CHECKING

import click

from ltm.cli import output
from ltm.cli.command import Work
from ltm.cli.command import command as make
from ltm.text.display import counted

if TYPE_CHECKING:
    from ltm.http.address import Running


@click.command("mcp")
@click.option(
    "--project",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, resolve_path=True),
    help="The project's folder, instead of the one the client names.",
)
@click.option(
    "--unless-plugin",
    is_flag=True,
    help="Offer nothing where the Claude Code plugin is active and serves already.",
)
def mcp_command(project: str | None, unless_plugin: bool) -> None:
    """Serve memories to an agent over MCP, on standard input and output.

    A client starts this by itself: `ltm setup` enters it there. The project is the one the client
    names (CLAUDE_PROJECT_DIR, or its roots), else the current folder's. It ends with the client.
    """
    if unless_plugin:
        from ltm.clients.wire import is_plugin_active

        folder = project or os.environ.get("CLAUDE_PROJECT_DIR") or os.getcwd()
        if is_plugin_active(os.environ, folder):
            from ltm.plugin.stand_in import serve_nothing

            serve_nothing()
            return
    import gc

    # The SDK is some thousand functions and classes that all stay: looking for garbage among them
    # while they are loaded takes a tenth of the time a client waits for us.
    gc.disable()
    from ltm.mcp.server import serve

    gc.freeze()
    gc.enable()
    serve(project)


@click.command("serve")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="0 (default): any free.")
@click.option("--host", metavar="IP", default="127.0.0.1", help="Where to listen.")
@click.option(
    "--project",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, resolve_path=True),
    help="The project of MCP calls, and of sessions whose folder is not on this machine.",
)
@click.option(
    "--allow-remote",
    is_flag=True,
    help="Allow a --host that other machines can reach; for containers.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON value when it is ready.")
def serve_command(
    port: int, host: str, project: str | None, allow_remote: bool, as_json: bool
) -> None:
    """Serve hooks and MCP over HTTP until Ctrl-C.

    \b
    ltm serve --port 8765

    You do not need this on your own machine: hooks and `ltm mcp` work without a server. It is for
    a memory in a container. Address and token are in server.json under LTM_HOME as long as it runs.
    """
    from ltm.http.server import serve

    def ready(server: Running) -> None:
        hook = str(files("ltm.http").joinpath("ltm-hook.sh"))
        if as_json:
            told = {"host": server.host, "port": server.port, "pid": server.pid}
            output.emit({**told, "started_at": server.started_at, "hook": hook})
        else:
            output.note(f"Listening on {server.url} (MCP: {server.url}/mcp). Ctrl-C ends it.")
            output.note(f"Hook for clients: {hook}")

    serve(host, port, project=project or "", allow_remote=allow_remote, ready=ready)


@click.command("hook", context_settings={"ignore_unknown_options": True})
@click.argument("event", nargs=-1, type=click.UNPROCESSED, metavar="[EVENT]")
def hook_command(event: tuple[str, ...]) -> None:
    """Take a client's event, JSON on standard input, and print what the session is to be told.

    \b
    ltm hook < event.json

    Clients run this, or `ltm-hook`, which is the same: `ltm setup` enters it in their settings.
    Which event it is stands in the JSON (hook_event_name), so EVENT need not be named. It never
    hurts a session: it ends within a second, with 0, and prints JSON or nothing.
    """
    from ltm.hook.main import main

    main()


@make("drain")
def drain_command(work: Work) -> None:
    """Do what hooks left for later, then end."""
    from ltm.project.home import home
    from ltm.worker.drain import drain
    from ltm.worker.model_queue import hear_due

    folder = home()
    if os.path.isdir(folder):
        os.chdir(folder)  # the folder a session ran in may be deleted while we work
    if hasattr(os, "nice"):
        os.nice(10)  # the user is working on this machine
    done = drain(folder)
    heard = hear_due(folder)  # last: a model may take minutes
    if work.as_json:
        output.emit({"events": done.events, "errors": done.errors, "llm_calls": heard.llm_calls})
    else:
        output.note(f"{counted(done.events, 'event')}, {counted(done.errors, 'error')}")


drain_command.hidden = True


@make("completion", data=False)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(work: Work, shell: str) -> None:
    """Print the completion script for bash, zsh or fish.

    \b
    bash:  eval "$(ltm completion bash)"    in ~/.bashrc
    zsh:   eval "$(ltm completion zsh)"     in ~/.zshrc
    fish:  ltm completion fish | source     in config.fish
    """
    from click.shell_completion import get_completion_class

    from ltm.cli.app import ltm

    completion = get_completion_class(shell)
    assert completion is not None
    click.echo(completion(ltm, {}, "ltm", "_LTM_COMPLETE").source())
