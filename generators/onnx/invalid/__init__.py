"""Invalid models: the ways to break one thing in the valid model of a family."""
