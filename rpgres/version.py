"""The version of rpgres, in a module of its own so that naming it imports nothing."""

__version__ = "0.1.0"
"""The version of rpgres."""
