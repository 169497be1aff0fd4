"""A folder of memory files: format, signatures, merge."""
