"""The reference: ONNX's operators beyond float64, with an error bound for each element."""
