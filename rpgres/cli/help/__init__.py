"""What help is made from: the pages of the guide, the commands, hints at the right line, and the layout."""
