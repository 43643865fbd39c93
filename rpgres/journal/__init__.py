"""Persistent tables: every action, answer and effect in an append-only journal, in one file.

`store` keeps it, `commands` add to it, `replay` runs what it has, `views` say what a seat may see of it. No ruleset
knows of it, and it knows none: it keeps states, answers, events and who may see them.
"""
