"""TOML text to typed records, and where a value stands in it."""
