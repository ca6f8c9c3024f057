"""Operators of what is known when a program runs: sizes, shapes, counts, the tensor's own data."""
