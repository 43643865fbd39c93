"""Formats of files and of what is printed: their records, JSON Schemas, and notations of others."""
