"""Attention of ONNX's own domain, and what prepares its operands."""
