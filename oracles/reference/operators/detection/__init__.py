"""The reference's operators of object detection."""
