"""Operators whose result has places along spatial axes: convolution, pooling, interpolation."""
