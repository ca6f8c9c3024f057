"""ONNX nodes for the operators that compute with places."""
