"""`ltm mcp`: the server an agent's client starts."""

from __future__ import annotations

import os

import click


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
def command(project: str | None, unless_plugin: bool) -> None:
    """Serve memories to an agent over MCP, on standard input and output.

    A client starts this by itself: `ltm setup` enters it there. The project is the one the client
    names (CLAUDE_PROJECT_DIR, or its roots), else the current folder's. It ends with the client.
    """
    if unless_plugin:
        from ltm.clients.plugin import is_active

        folder = project or os.environ.get("CLAUDE_PROJECT_DIR") or os.getcwd()
        if is_active(os.environ, folder):
            from ltm.surfaces.bare import serve_nothing

            serve_nothing()
            return
    import gc

    # The SDK is some thousand functions and classes that all stay: looking for garbage among them
    # while they are loaded takes a tenth of the time a client waits for us.
    gc.disable()
    from ltm.surfaces.mcp.server import serve

    gc.freeze()
    gc.enable()
    serve(project)
