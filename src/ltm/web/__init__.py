"""The page of `ltm ui`: what the next session is told, and everything a person can do about it.

It only translates: what it shows and does are the use cases that the commands call too.
"""
