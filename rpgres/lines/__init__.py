"""Lines typed at a table, as people say them: what they stand for, and what they do. Nothing here knows a shell."""
