"""Lowerings of operators of object detection."""
