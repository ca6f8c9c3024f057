"""Fixes of TVM's importers."""
