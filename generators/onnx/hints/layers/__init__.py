"""Operators that are layers of networks: normalization, recurrence, attention, losses."""
