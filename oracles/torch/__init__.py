"""Oracles of PyTorch programs: eager PyTorch, its float64, and the exported program."""
