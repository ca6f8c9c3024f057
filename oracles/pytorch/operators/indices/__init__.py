"""PyTorch's operators that compute with places."""
