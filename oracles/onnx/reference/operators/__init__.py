"""The reference's operators, by ONNX name; a new operator is a new function in a module here."""
