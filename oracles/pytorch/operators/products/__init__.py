"""PyTorch's products along named axes."""
