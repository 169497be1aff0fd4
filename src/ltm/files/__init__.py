"""Durable writes, safe reads, locks, and marked blocks in files."""
