"""TVM releases side by side."""
