"""Imports the optional packages that models are made of."""

import importlib
from typing import Any

import torch

_ON_TORCHVISION = ("torchvision", "timm", "transformers")

_KEPT: list[Any] = []
"""Libraries of PyTorch, whose definitions vanish with them."""


def load(name: str) -> Any:
    """The package ``name``, or a module of it."""
    if name.partition(".")[0] in _ON_TORCHVISION:
        _declare_operators()
    return importlib.import_module(name)


def _declare_operators() -> None:
    """Declare the operators that ``import torchvision`` describes.

    Its native library does not load where it was built for CUDA and PyTorch was not. No model here
    calls them.
    """
    missing = [name for name in ("nms", "qnms") if not hasattr(torch.ops.torchvision, name)]
    if missing:
        library = torch.library.Library("torchvision", "FRAGMENT")
        _KEPT.append(library)
        for name in missing:
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
