"""Models of several nodes: random graphs, and the idioms of exporters."""
