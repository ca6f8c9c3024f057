"""PyTorch's operators of training."""
