"""The derived index of a vault: SQLite, full-text search, vectors."""
