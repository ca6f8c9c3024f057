"""The frameworks that models come from: the values that PyTorch and ONNX Runtime compute.

Nothing here imports TVM.
"""
