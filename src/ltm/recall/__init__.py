"""A question becomes hits: which memories answer it, how well, and why."""
