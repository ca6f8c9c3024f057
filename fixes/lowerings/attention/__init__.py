"""Fixes of the three attention operators."""
