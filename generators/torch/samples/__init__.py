"""PyTorch's own samples of its operators and modules, as data, and what varies in them."""
