"""What the extraction by rules hears in written sessions, beside a list of words to look for.

`python -m benchmarks.capture` prints the figures; README.md tells how sessions are written and what
counts as right.
"""
