"""The reference's operators that sample images at computed places."""
