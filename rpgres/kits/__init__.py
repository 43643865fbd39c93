"""What several rulesets share; each module is documented and open to third parties."""
