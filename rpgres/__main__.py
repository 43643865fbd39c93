"""`python -m rpgres` is the command line."""

from rpgres.cli import main

if __name__ == "__main__":
    main()
