"""The command line: where it starts. Commands stand in modules of their own, what they print in `rpgres.render`."""

from __future__ import annotations

MANY = 100_000  # objects made between two collections


def main() -> None:
    """Run the command line with the arguments of this process, and exit with its code."""
    # A start makes some ten thousand objects that stay; looking through them for garbage is a quarter of its time.
    import gc

    gc.set_threshold(MANY, 20, 20)
    from rpgres.cli.root import root

    root().main(prog_name="rpgres")
