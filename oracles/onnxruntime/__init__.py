"""The ONNX Runtime oracle."""
