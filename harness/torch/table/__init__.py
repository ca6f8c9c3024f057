"""The support table of PyTorch: what becomes of samples of each operator and layer."""
