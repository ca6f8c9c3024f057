"""Operators about how the elements of a tensor lie in memory."""
