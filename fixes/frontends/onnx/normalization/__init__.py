"""ONNX's normalizations."""
