"""Other clients than Claude Code, for real, against a scripted model on loopback."""
