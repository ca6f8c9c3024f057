"""Reductions over axes that may be empty at run time."""
