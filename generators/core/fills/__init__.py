"""Kinds of input values, and how random words make them."""
