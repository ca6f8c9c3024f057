"""Casts of ONNX, and quantization."""
