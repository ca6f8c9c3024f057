"""Operators that multiply and add along named axes."""
