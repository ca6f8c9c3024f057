"""Operators that slide a window over images: convolution and pooling."""
