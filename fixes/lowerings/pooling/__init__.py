"""Fixes of adaptive pooling."""
