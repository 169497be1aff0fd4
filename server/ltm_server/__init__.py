"""The server of a team: its memories in PostgreSQL, who may do what, and the commands to run it.

It comes with the wheel, and not with the plugin, whose environment has no driver for a database.
`ltm` loads it when `ltm team` is asked for something of a server, or a project is kept in one.
"""
