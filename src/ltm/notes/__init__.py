"""Session notes and stashes as Markdown."""
