"""Operators that call a function: of TIR, a packed one, or a closure."""
