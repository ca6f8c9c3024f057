"""What the answer should be: PyTorch, ONNX Runtime, and a float64 reference with error bounds."""
