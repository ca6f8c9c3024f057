"""ONNX's operators on images: resizing, sampling, regions and boxes."""
