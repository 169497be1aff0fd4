"""Export and import.

`export` writes every field of every memory as JSON; `import_` reads such a file, or what another
tool kept, through one importer per tool (`importers`).
"""
