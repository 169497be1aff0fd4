"""The store: every read and change of memories."""
