"""The programme that proves what the README promises: one command, one table.

    python -m benchmarks.soak            what CI runs too
    python -m benchmarks.soak --full     more of it, at most 45 minutes
    python -m benchmarks.soak R1 S11     some rows only

Owns the list of promises (`programme`) and running them (`__main__`); what is tried lies with the
tests, or in this folder where it takes too long for them. Figures go to `figures.json`, and
`python -m docs.generate` makes `docs/reference/reliability.md` of it.
"""
