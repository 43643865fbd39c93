"""What lies on a table, and its form as plain data."""
