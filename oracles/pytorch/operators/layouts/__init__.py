"""PyTorch's operators about how the elements of a tensor lie in memory."""
