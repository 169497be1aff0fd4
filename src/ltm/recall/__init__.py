"""Recall: from a question to ranked hits with their reasons."""
