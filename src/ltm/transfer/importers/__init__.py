"""One importer per foreign store: a module that looks whether a source is its own, and reads it.

What is mapped to what is in `docs/guides/moving.md`, a table for each. Importers only read.
"""
