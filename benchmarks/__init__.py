"""What we claim about speed and safety, measured beside a baseline in the same run.

`python -m benchmarks.NAME` prints a table, `--json FILE` keeps the figures. No test asserts time.
"""
