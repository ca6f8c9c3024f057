"""Reduction: a case made simpler, step by step, while it fails in the same way."""
