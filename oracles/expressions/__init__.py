"""Oracles of integer expressions: Z3 and SymPy."""
