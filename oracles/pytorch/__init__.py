"""The PyTorch oracle."""
