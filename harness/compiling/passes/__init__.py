"""Passes of a case: made, applied, and their results checked."""
