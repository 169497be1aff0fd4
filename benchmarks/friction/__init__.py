"""Friction, measured: a corpus whose signals are known, speed, and precision on real sessions."""
