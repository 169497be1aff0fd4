"""The HTTP server of `ltm serve`: hooks and MCP for clients in containers.

It listens on loopback unless a person says otherwise, and answers nothing without the token of
`server.json`.
"""
