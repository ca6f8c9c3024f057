"""Checks of models for a person to read."""
