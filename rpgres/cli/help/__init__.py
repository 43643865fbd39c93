"""Help: the pages of the guide, commands by name, hints, and the layout."""
