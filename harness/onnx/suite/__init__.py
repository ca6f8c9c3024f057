"""ONNX's own backend tests, run by TVM's importer and compiler."""
