"""Expected results: PyTorch, ONNX Runtime, and a float64 reference with error bounds.

Importing a module of this room imports PyTorch or ONNX Runtime only where the module is theirs: the
command line and the engine need other parts, and must not wait.
"""
