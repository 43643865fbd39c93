"""Files checked: what is found in rulesets and settings, the forms in which it is printed, and checks on change."""
