"""Capture: from what users and agents say to memories."""
