"""Exact, optimal and sampled odds."""
