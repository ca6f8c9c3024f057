"""The models that faults are planted in: 100 to 2,000 nodes each, right on TVM as it is.

Each function returns a module, its example inputs and the dimensions that vary, as ``relaxcheck
model package.module:make`` wants them. Weights are drawn from a seed.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional

Made = tuple[nn.Module, tuple[Tensor, ...]] | tuple[nn.Module, tuple[Tensor, ...], dict[str, Any]]


class Encoder(nn.Module):
    """A transformer's encoder over embedded tokens, averaged over the sequence."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(40, 16)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(16, 2, 24, 0.0, "gelu", batch_first=True)
            for _ in range(layers)
        )
        self.head = nn.Linear(16, 5)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits of shape (batch, 5) for ``ids`` of shape (batch, length)."""
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean(1))


class Gated(nn.Module):
    """A recurrent cell, unrolled over ``steps``, that reads the same input at each."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.steps = steps
        self.gate, self.value = nn.Linear(12, 12), nn.Linear(12, 12)

    def forward(self, x: Tensor) -> Tensor:
        """The last state, of the shape of ``x``: (batch, 12)."""
        state = x
        for _ in range(self.steps):
            gate = torch.sigmoid(self.gate(state))
            state = gate * torch.tanh(self.value(state)) + (1 - gate) * (x - state)
        return state


class Convolutional(nn.Module):
    """Residual blocks of convolutions, batch normalization and pooling, and a decoder."""

    def __init__(self, blocks: int) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.blocks = nn.ModuleList(
            nn.Sequential(
                *(nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.SiLU()),
                *(nn.Conv2d(8, 8, 3, padding=1, groups=2), nn.BatchNorm2d(8)),
            )
            for _ in range(blocks)
        )
        self.head = nn.Conv2d(16, 4, 1)

    def forward(self, image: Tensor) -> Tensor:
        """An image of shape (batch, 4, 12, 12) for one of shape (batch, 3, 12, 12)."""
        x = self.stem(image)
        for block in self.blocks:
            x = functional.relu(x + block(x))
        low = functional.avg_pool2d(x, 2)
        high = functional.interpolate(low, scale_factor=2.0, mode="nearest")
        return self.head(torch.cat([x, high], 1))


def _seeded(module: type[nn.Module], size: int) -> nn.Module:
    torch.manual_seed(5)
    made = module(size).eval()
    # A scale of ones, or a bias of zeros, hides that it is lost.
    for parameter in made.parameters():
        parameter.data += 0.1 * torch.randn(parameter.shape)
    return made


def encoder() -> Made:
    """About 500 nodes; batch and length vary."""
    sizes = {"ids": {0: Dim("batch", min=1, max=64), 1: Dim("length", min=2, max=64)}}
    return _seeded(Encoder, 7), (torch.randint(0, 40, (2, 6)),), sizes


def deep_encoder() -> Made:
    """About 2,000 nodes, static."""
    return _seeded(Encoder, 30), (torch.randint(0, 40, (2, 6)),)


def gated() -> Made:
    """About 300 nodes; the batch varies."""
    return _seeded(Gated, 24), (torch.randn(3, 12),), {"x": {0: Dim("batch", min=1, max=64)}}


def gated_static() -> Made:
    """About 300 nodes, static."""
    return _seeded(Gated, 24), (torch.randn(3, 12),)


def convolutional() -> Made:
    """About 100 nodes, static."""
    return _seeded(Convolutional, 12), (torch.randn(1, 3, 12, 12),)


def convolutional_batches() -> Made:
    """About 100 nodes; the batch varies."""
    sizes = {"image": {0: Dim("batch", min=1, max=64)}}
    return _seeded(Convolutional, 12), (torch.randn(2, 3, 12, 12),), sizes
