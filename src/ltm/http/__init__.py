"""The HTTP server of `ltm serve`: twins of the hooks and MCP, for a client in another container.

It listens on loopback unless a person says otherwise, and answers nothing without the token of
`server.json`.
"""
