"""ONNX nodes for operators of training."""
