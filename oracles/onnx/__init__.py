"""The right answer of an ONNX model: by ONNX Runtime, ONNX's own evaluator, and in float64."""
