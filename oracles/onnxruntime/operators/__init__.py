"""The operators of the ONNX Runtime oracle, one module for each group; every one is loaded."""
