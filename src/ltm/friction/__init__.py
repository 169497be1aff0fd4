"""Friction in sessions: signals, scores, recurring failures, evidence for preferences."""
