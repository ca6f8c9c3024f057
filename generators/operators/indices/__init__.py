"""Operators that compute with places: diagonals, ranges, grids, scatters."""
