"""Values to text: plain text, JSON, and rich pictures for a terminal. Nothing here prints."""
