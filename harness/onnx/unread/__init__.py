"""Attributes and inputs that ONNX's schemas have and TVM's converters never read: found in text."""
