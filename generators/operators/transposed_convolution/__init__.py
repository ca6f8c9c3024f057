"""Transposed convolution in one, two and three dimensions."""
