"""ONNX nodes for the operators of object detection."""
