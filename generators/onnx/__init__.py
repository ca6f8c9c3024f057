"""ONNX models as cases: the data, and how they are drawn from the schemas of ONNX."""
