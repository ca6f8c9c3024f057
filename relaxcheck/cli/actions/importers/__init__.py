"""``relaxcheck onnx`` and ``relaxcheck torch``: looks into TVM's importers."""
