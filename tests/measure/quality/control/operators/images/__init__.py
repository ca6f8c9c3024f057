"""The control's operators that sample images at computed places."""
