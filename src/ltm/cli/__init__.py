"""The `ltm` command: one module per command or group of commands."""
