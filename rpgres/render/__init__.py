"""Values to text for people, as lines of styled pieces: plain in a pipe, coloured on a terminal. Nothing here prints."""
