"""Fixes of the importer of exported PyTorch programs."""
