"""LTM: a long-term memory for coding agents, kept as Markdown."""

__version__ = "0.1.0"
