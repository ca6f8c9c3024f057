"""Tensors joined and repeated."""
