"""Layers of networks: normalization, pooling, resizing, products."""
