"""What plays: the table, the run of a rule, players, dealers, parameters, periods."""
