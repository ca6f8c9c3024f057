"""Explain why a model fails: what is known to go wrong, the smallest piece of it, and its cure."""
