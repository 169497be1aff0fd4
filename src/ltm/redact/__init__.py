"""Removal of secrets from texts."""
