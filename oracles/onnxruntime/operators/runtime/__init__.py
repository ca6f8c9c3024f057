"""ONNX nodes for operators of what is known when a program runs."""
