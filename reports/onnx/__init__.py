"""ONNX models for a person to read."""
