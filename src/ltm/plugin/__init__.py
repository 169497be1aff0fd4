"""What the Claude Code plugin starts before its environment is built."""
