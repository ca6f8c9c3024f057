"""The commands that look into TVM's importers."""
