"""Which project a folder belongs to, and where its data lies."""
