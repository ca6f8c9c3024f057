"""What the answer should be: PyTorch, ONNX Runtime, and a float64 reference with error bounds.

Importing a module of this room imports neither PyTorch nor ONNX Runtime unless it is theirs: the
command line and the engine need parts of it, and are not to wait for those.
"""
