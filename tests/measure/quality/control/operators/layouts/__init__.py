"""Operators of the control about how the elements of a tensor lie in memory."""
