"""Operators that ONNX defines by a function of other operators."""
