"""What an action takes: every kind of parameter in one place, and how inputs are read into values."""
