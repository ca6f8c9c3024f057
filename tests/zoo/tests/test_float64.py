"""Results in float64 are exact where a module converts to float32, or makes float32 itself."""

import torch
from torch import nn

from tests.zoo.float64 import in_float64


class _Converting(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        steps = torch.arange(3, dtype=torch.float32) / 3
        return (x.to(torch.float32) + steps).float().sqrt() + torch.full((3,), 0.1)


def test_conversions_to_float32_stay_in_float64() -> None:
    x = torch.tensor([1.0, 2.0, 3.0])
    (result,) = in_float64(_Wrapped(), (x,))
    steps = torch.arange(3, dtype=torch.float64) / 3
    assert result.dtype == torch.float64
    expected = (x.double() + steps).sqrt() + 0.1
    assert torch.allclose(result, expected, rtol=1e-15, atol=0)


class _Wrapped(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = _Converting()

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor]:
        return (self.inner(x),)


def test_integers_stay_integers() -> None:
    (result,) = in_float64(_Counting(), (torch.tensor([3, 1]),))
    assert result.dtype == torch.int64
    assert result.tolist() == [4, 2]


class _Counting(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor]:
        return (x + 1,)
