"""Tests, a folder for each folder of `rpgres/`; `support` holds what they share."""
