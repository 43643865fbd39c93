"""What rulesets come with, and what is made of it: sheets, decks and files, listed, described, written and drawn."""
