"""ONNX's operators on windows: convolutions and pools."""
