"""Operators of training."""
