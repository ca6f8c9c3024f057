"""Symbols that occur in the inputs only within expressions, solved from the inputs' sizes."""
