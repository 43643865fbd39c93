"""Requests of `rpgres batch`: commands as operations with keys, schemas and answers, by one process or several."""
