"""Fixes of TVM's passes, and passes that make lowered programs compile."""
