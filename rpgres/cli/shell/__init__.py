"""Command lines as text: split into words, quoted for the shell in use, and those that resume an action."""
