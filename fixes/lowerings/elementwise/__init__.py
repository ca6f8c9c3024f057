"""Lowerings of functions that work element by element."""
