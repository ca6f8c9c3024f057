"""ONNX's Fourier transforms, windows and filters of signals."""
