"""The operators of the PyTorch oracle, one module for each group; every module here is loaded."""
