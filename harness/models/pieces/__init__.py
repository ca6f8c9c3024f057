"""Pieces of models that fail, as what a maintainer can run."""
