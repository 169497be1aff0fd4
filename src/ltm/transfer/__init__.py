"""Moving memories out of LTM and into it.

`export` writes every field of every memory as JSON; `bring` takes in such a file, or what another
tool kept, through one importer per tool (`importers`). Imports core and storage, never another
flow.
"""
