"""ONNX nodes for the operators that sample images at computed places."""
