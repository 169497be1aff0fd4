"""Upkeep of memories: fading, eviction, consolidation, checks, purge."""
