"""Values to text for people, as lines of styled pieces that a pipe gets plain. Nothing here prints."""
