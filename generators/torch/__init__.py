"""PyTorch programs as data, and how they are drawn, built and exported."""
