"""Fixes of products along named axes."""
