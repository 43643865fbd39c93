"""A seat for a language model: the tools of a Model Context Protocol server (`tools`), and what they do (`calls`)."""
