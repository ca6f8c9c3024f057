"""Makes ``generators/torch/samples`` from PyTorch's ``OpInfo`` and ``ModuleInfo``."""
