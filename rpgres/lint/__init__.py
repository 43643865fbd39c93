"""Diagnostics of rulesets, decks and sheets."""
