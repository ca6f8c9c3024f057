"""The control of the operators of object detection."""
