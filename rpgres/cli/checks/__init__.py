"""Checks of rulesets and settings, the forms of their output, and checks repeated when files change."""
