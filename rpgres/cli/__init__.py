"""The command line: where it starts. Commands stand in modules of their own, what they print in `rpgres.render`."""

from __future__ import annotations

INTERRUPTED = 130  # the exit code
MANY = 100_000  # objects made between two searches for garbage


def main() -> None:
    """Run the command line with the arguments of this process, and exit with its code."""
    # A start makes some ten thousand objects that stay to the end. Looking through them for garbage, again and again
    # while modules are loaded and once more when everything is over, would be a quarter of a one-shot command's time.
    import gc
    import sys

    gc.set_threshold(MANY, 20, 20)
    try:
        from rpgres.cli.deferring import deferred

        with deferred():  # a sixth of a one-shot command
            from rpgres.cli.root import root

        root().main(prog_name="rpgres")
    except KeyboardInterrupt:  # while it was being loaded; later the root command sees to it
        sys.exit(INTERRUPTED)
    finally:
        gc.freeze()
