"""Asking a person at a terminal: questions, and what real dice and cards showed."""
