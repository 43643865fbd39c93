"""Golden results: command lines as users type them, and the promised part of what each of them gives.

`cases/NAME.txt` has patterns of command lines, `tables/NAME.txt` scripts of whole tables; `NAME.jsonl` beside them has
a record a line, in order: the command line (`run`) and its result (`gives`). `python -m tests.golden` makes all records
anew and prints the difference to the committed ones; `--write` writes them. `surface` says which fields are kept.
"""
