"""Losses, and gradients of losses, indices and pooling."""
