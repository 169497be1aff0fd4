"""One importer per foreign store: a module that tells whether a source is its own, and reads it.

Each module's docstring has the table of what is mapped to what. Importers only read.
"""
