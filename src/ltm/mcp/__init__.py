"""The MCP server of `ltm mcp`: the tools an agent calls, and the stdio connection they answer on.

Nothing here loads a store, SQLite or YAML before the first call of a tool, because a client waits
for `initialize` while it starts.
"""
