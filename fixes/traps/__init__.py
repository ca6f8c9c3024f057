"""Calls that importers make, and that are known to go wrong."""
