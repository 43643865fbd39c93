"""`rpgres play`: lines are read, understood, and carried out as commands of `rpgres table`."""
