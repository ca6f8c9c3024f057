"""ONNX nodes for products along named axes."""
