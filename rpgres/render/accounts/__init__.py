"""The account of a scene or of a table: made from what happened, and shown at a terminal, as Markdown or as HTML."""
