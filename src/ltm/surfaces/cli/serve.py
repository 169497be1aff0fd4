"""`ltm serve`: hooks and MCP over HTTP, for clients that cannot start a process here."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import click

from ltm.surfaces.cli import output

if TYPE_CHECKING:
    from ltm.surfaces.http.running import Running


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
def command(port: int, host: str, project: str | None, allow_remote: bool, as_json: bool) -> None:
    """Serve hooks and MCP over HTTP until Ctrl-C.

    \b
    ltm serve --port 8765

    You do not need this on your own machine: hooks and `ltm mcp` work without a server. It is for
    a memory in a container. Address and token are in server.json under LTM_HOME as long as it runs.
    """
    from ltm.surfaces.http.serve import serve

    def ready(server: Running) -> None:
        hook = str(files("ltm.surfaces").joinpath("sh", "ltm-hook.sh"))
        if as_json:
            told = {"host": server.host, "port": server.port, "pid": server.pid}
            output.emit({**told, "started_at": server.started_at, "hook": hook})
        else:
            output.note(f"Listening on {server.url} (MCP: {server.url}/mcp). Ctrl-C ends it.")
            output.note(f"Hook for clients: {hook}")

    serve(host, port, project=project or "", allow_remote=allow_remote, ready=ready)
