"""Fixes of the importer of ONNX models."""
