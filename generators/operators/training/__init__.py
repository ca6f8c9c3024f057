"""Operators of training: sums that undo a broadcast."""
