"""PyTorch's operators of object detection."""
