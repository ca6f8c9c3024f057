"""Operators that work element by element, and how two operands broadcast."""
