"""Operators of ONNX that compute element by element."""
