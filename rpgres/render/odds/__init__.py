"""Odds as reports, and as rows for spreadsheets."""
