"""ONNX's products of quantized tensors, and determinants."""
