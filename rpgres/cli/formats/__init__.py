"""What is written to files: schemas, summaries, sheets, decks."""
