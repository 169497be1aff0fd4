"""Runs the real Claude Code client, offline, and tells what really happened.

The client, its plugin system, hooks, MCP client, permissions and transcripts are real; only the
model is scripted, by a Messages API on loopback. tests/e2e/README.md has a worked example.

    binary       the client on this machine           install      puts it there, with npm
    harness      a fresh HOME and project, the plugin, sessions
    printing     a session of `claude -p`            interactive  a session at the terminal
    session      what both have in common            terminal     a program in a pseudo-terminal
    reply        what the model says                 screen       the terminal's emulator
    script       which reply answers a request       stream       a reply on the wire
    request      what the client asked               api          the Messages API on loopback
    tap          the recorder of hooks and servers   staging      a plugin with recorders in it
    records      what the recorders wrote            context      what hooks put before the model
    home         the user's home at the start        gitserver    a git server on loopback
    example      a tiny plugin                       record       transcripts as fixtures
    deadline     waiting, with an end
"""

from .binary import Client, ClientMissing
from .context import Context, Injection
from .deadline import DeadlineError, wait_until
from .harness import MARKET, Harness
from .interactive import TuiSession
from .printing import PrintSession
from .records import HookRun, McpCall
from .reply import Reply, Rule, ToolUse, use
from .request import Request
from .script import Script
from .session import ScriptError, Session

__all__ = [
    "MARKET",
    "Client",
    "ClientMissing",
    "Context",
    "DeadlineError",
    "Harness",
    "HookRun",
    "Injection",
    "McpCall",
    "PrintSession",
    "Reply",
    "Request",
    "Rule",
    "Script",
    "ScriptError",
    "Session",
    "ToolUse",
    "TuiSession",
    "use",
    "wait_until",
]
