"""ONNX's reductions, running sums, choices of extremes, and losses."""
