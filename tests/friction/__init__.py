"""Friction: what went wrong in sessions, and what was learned of it."""
