"""Verdicts and outcomes as plain data, and the texts of errors."""
