"""Text made safe for where it goes: terminals, JSON, file names."""
