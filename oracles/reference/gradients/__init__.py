"""Gradients of the reference: reverse accumulation over estimates."""
