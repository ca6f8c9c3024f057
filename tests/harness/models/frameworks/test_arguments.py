"""PyTorch's values of programs whose inputs are structures, bfloat16, or lead to integers."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from relaxcheck.harness.models.frameworks import torch as runtime
from relaxcheck.harness.models.judging import MODEL_LIMIT, measured
from relaxcheck.oracles.torch.tensors import array_of


class Nested(nn.Module):
    def forward(self, tensors: dict[str, Tensor], factor: int) -> Tensor:
        return tensors["a"] * factor - tensors["b"]


class Doubled(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 2


def test_a_module_is_called_on_the_structure_of_its_example() -> None:
    module = Nested()
    example = ({"a": torch.ones(2), "b": torch.ones(2)}, 3)
    model = runtime.TorchModel(torch.export.export(module, example), module)
    a, b = np.array([1, 2], np.float32), np.array([5, 7], np.float32)
    assert runtime.eager(model, [a, b])["output 0"].tolist() == [-2, -1]
    assert runtime.outputs(model, [a, b]).own["output 0"].tolist() == [-2, -1]


@pytest.mark.parametrize("width", [3, 4])
def test_bfloat16_is_read_before_it_is_widened(width: int) -> None:
    x = torch.arange(2 * width).reshape(2, width).bfloat16()
    model = runtime.TorchModel(torch.export.export(Doubled(), (x,)))
    values = runtime.outputs(model, [array_of(x)])
    wanted = (2 * np.arange(2 * width)).reshape(2, width)
    np.testing.assert_array_equal(values.double["output 0"], wanted)
    np.testing.assert_array_equal(values.own["output 0"].astype(np.float64), wanted)


def test_integers_that_a_rounding_decides_are_counted() -> None:
    own, double = np.array([1, 2, 3, 4]), np.array([1, 2, 3, 5])
    assert measured(np.array([1, 2, 3, 5]), own, double).ratio == 0
    assert measured(np.array([1, 2, 4, 4]), own, double).ratio == 2
    # Where the framework is exact, TVM has to be.
    assert measured(np.array([1, 2, 3, 5]), own, own).ratio > MODEL_LIMIT
    assert measured(own, own, own).ratio == 0
