"""`ltm mcp`: the server an agent's client starts."""

from __future__ import annotations

import click


@click.command("mcp")
@click.option(
    "--project",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, resolve_path=True),
    help="The project's folder, instead of the one the client names.",
)
def command(project: str | None) -> None:
    """Serve memories to an agent over MCP, on standard input and output.

    A client starts this by itself: `ltm setup` enters it there. The project is the one the client
    names (CLAUDE_PROJECT_DIR, or its roots), else the current folder's. It ends with the client.
    """
    import gc

    # The SDK is some thousand functions and classes that all stay: looking for garbage among them
    # while they are loaded takes a tenth of the time a client waits for us.
    gc.disable()
    from ltm.surfaces.mcp.server import serve

    gc.freeze()
    gc.enable()
    serve(project)
