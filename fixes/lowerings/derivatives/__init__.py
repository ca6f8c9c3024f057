"""Gradients of operators, which the pass Gradient calls."""
