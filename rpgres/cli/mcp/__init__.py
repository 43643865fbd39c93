"""A seat for a language model: what a Model Context Protocol server offers (`tools`), does (`doing`) and says."""
