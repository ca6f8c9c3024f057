"""PyTorch programs of several nodes: random graphs, layers, and the idioms of exporters."""
