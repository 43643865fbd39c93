"""The command line."""

def main() -> None:
    pass
