"""What tests share: ways to run the command line, small rulesets, and packages as pip would install them."""
