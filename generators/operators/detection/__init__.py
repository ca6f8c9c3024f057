"""Operators of object detection: boxes that are decoded, counted and suppressed."""
