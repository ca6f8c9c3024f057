"""ONNX models: import, compile, run, judge."""
