"""PyTorch programs for a person to read."""
