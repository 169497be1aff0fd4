"""The HTTP server of `ltm serve`: twins of the hooks and MCP, for a client in another container.

Loopback only unless told otherwise, and nothing is answered without the token of `server.json`.
"""
