"""Transcripts of an agent: reading them, and the statistics of a session."""
