"""Fixes of the transposed convolutions."""
