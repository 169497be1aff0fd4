"""`ltm mcp`, `serve`, `hook` and `statusline`, which clients start, `ltm ui` and `completion`.

A client waits for `ltm mcp`, so each server is imported by its own command.
"""

from __future__ import annotations

import atexit
import os
import webbrowser
from importlib.resources import files
from threading import Thread
from typing import TYPE_CHECKING

import click
from click.shell_completion import get_completion_class

from ltm.cli import output
from ltm.cli.app import ltm
from ltm.cli.command import Number
from ltm.cli.question_socket import listen
from ltm.errors import NotFound, Refused

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
    help="Offer no tools where the Claude Code plugin is active, which has its own server.",
)
def mcp_command(project: str | None, unless_plugin: bool) -> None:
    """Serve memories to an agent over MCP, on standard input and output.

    Clients start this once `ltm setup` has registered it. The project is the one the client names
    (CLAUDE_PROJECT_DIR, or its roots), else that of the current folder. It ends with the client.
    """
    from ltm.mcp.server import serve

    serve(project or "", unless_plugin=unless_plugin, listen=listen)


@click.command("statusline")
def statusline_command() -> None:
    """Print one line about memory, for the status line of Claude Code.

    `ltm setup --statusline` enters it. The client names the project's folder on standard input.
    """
    from ltm.cli.statusline import run

    run()


@click.command("serve")
@click.option("--port", type=Number(0, 65_535), default=0, help="0 (default): any free port.")
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
@click.option(
    "--check", is_flag=True, help="Start no server: say whether that of this home answers, or fail."
)
@click.option("--ui", "with_page", is_flag=True, help="Also show the page of 'ltm ui' there.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON value when it is ready.")
def serve_command(
    port: int,
    host: str,
    project: str | None,
    allow_remote: bool,
    check: bool,
    with_page: bool,
    as_json: bool,
) -> None:
    """Serve hooks and MCP over HTTP until Ctrl-C.

    \b
    ltm serve --port 8765

    On your own machine you do not need it: hooks and `ltm mcp` work without a server. It is for
    clients in containers. While it runs, its address and token are in LTM_HOME/server.json. With
    --ui it prints a link for a browser, which is good once; when it was used, it prints the next.
    """
    if check:
        _check(as_json)
        return
    from ltm.http.server import serve

    page = None
    if with_page:
        from ltm.web.server import shared_page

        page = shared_page(project or os.getcwd(), lambda link: output.note(f"Page: {link}"))

    def ready(server: Running) -> None:
        listen(atexit.register)
        hook = str(files("ltm.http").joinpath("ltm-hook.sh"))
        if as_json:
            address = {"host": server.host, "port": server.port, "pid": server.pid}
            output.emit({**address, "started_at": server.started_at, "hook": hook})
        else:
            output.note(f"Listening on {server.url} (MCP: {server.url}/mcp). Ctrl-C ends it.")
            output.note(f"Hook for clients: {hook}")

    serve(host, port, project=project or "", allow_remote=allow_remote, page=page, ready=ready)


def _check(as_json: bool) -> None:
    """Ask the server that is noted, as one who has its token; an error if it does not answer."""
    from ltm.http import address
    from ltm.project.home import home

    place = home()
    server = address.load(place)
    note = os.path.join(place, address.FILE)
    if server is None:
        raise NotFound("no server runs for this home", path=note, hint="start one: ltm serve")
    if not address.is_well(server):
        raise Refused(
            f"the server at {server.url} (process {server.pid}) does not answer",
            path=note,
            hint="start one: ltm serve; it takes the place of one that was killed",
        )
    if as_json:
        known = {"host": server.host, "port": server.port, "pid": server.pid}
        output.emit({**known, "started_at": server.started_at})
    else:
        output.say(f"The server at {server.url} (process {server.pid}) answers.")


@click.command("ui")
@click.option(
    "--project",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, resolve_path=True),
    help="The project's folder, instead of the current one.",
)
@click.option("--port", type=Number(0, 65_535), default=0, help="0 (default): any free port.")
@click.option("--no-open", is_flag=True, help="Only print the link.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON value when it is ready.")
def ui_command(project: str | None, port: int, no_open: bool, as_json: bool) -> None:
    """See and correct memories in your browser, until Ctrl-C.

    \b
    ltm ui
    ltm ui --no-open

    It shows what the next session is told, finds memories and sessions, and lets you edit, approve,
    forget, merge and undo. Only this machine can reach it, it needs no network, and it ends after
    30 minutes without use. The link it prints is good once, within 10 minutes.
    """
    from ltm.web.server import serve_page

    def ready(link: str) -> None:
        if as_json:
            output.emit({"link": link, "pid": os.getpid()})
        else:
            output.say(link)
            output.note("Ctrl-C ends it.")
        if not no_open and not as_json:
            Thread(target=webbrowser.open, args=(link,), daemon=True).start()

    serve_page(project or os.getcwd(), port, ready=ready)


@click.command("hook", context_settings={"ignore_unknown_options": True})
@click.argument("event", nargs=-1, type=click.UNPROCESSED, metavar="[EVENT]")
def hook_command(event: tuple[str, ...]) -> None:
    """Handle an event of a client: JSON on standard input, the answer for the session on output.

    \b
    ltm hook < event.json

    Clients run this, or `ltm-hook`, which is the same, once `ltm setup` has registered it. The
    JSON names the event (hook_event_name), so EVENT may be left out. It never disturbs a session:
    it ends within a second, with exit code 0, and prints JSON or nothing.
    """
    # `ltm.cli.main` handles every call but this help.


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the completion script for bash, zsh or fish.

    \b
    bash:  eval "$(ltm completion bash)"    in ~/.bashrc
    zsh:   eval "$(ltm completion zsh)"     in ~/.zshrc
    fish:  ltm completion fish | source     in config.fish
    """
    completion = get_completion_class(shell)
    assert completion is not None
    click.echo(completion(ltm, {}, "ltm", "_LTM_COMPLETE").source())
