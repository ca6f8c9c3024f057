"""ONNX's operators that move, choose and make elements."""
