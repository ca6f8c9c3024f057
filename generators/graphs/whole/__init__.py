"""Whole graphs: up to 40 nodes, with fragments that passes look for, and structure around them."""
