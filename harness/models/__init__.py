"""A model of a user's: imported, compiled, compared with its framework, and its faults located."""
