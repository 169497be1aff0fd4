"""What the next session is told, and the files that tell it to agents without hooks.

Hooks run this package: it imports nothing outside the standard library.
"""
