"""Databases of this machine: usage, sessions, model calls, corrections."""
