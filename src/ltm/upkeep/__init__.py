"""Upkeep: what is never needed fades, what matters stays, and what broke is found and mended."""
