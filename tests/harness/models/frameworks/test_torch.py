"""PyTorch's values of a program, and the same in float64."""

import numpy as np
import torch
from torch import nn

from relaxcheck.harness.models.frameworks.torch import TorchModel, eager, inputs, outputs, steps
from tests.harness.models.small import Last, exported


class Casting(nn.Module):
    """Casts to float32, and makes a float32, on purpose."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.exp().to(torch.float32).log() + torch.ones(3, dtype=torch.float32) / 3


def test_inputs_have_shapes_of_sizes_and_symbols() -> None:
    example = torch.randn(2, 5, 3)
    program = exported(Last(), example, batch=True)
    (x,), (batch,) = inputs(TorchModel(program, names={(0, 0): "batch"}))
    assert x.dims == (batch.name, 5, 3)
    assert (batch.own, batch.aliases, batch.shown) == (2, ("batch",), "batch")
    assert x.example is not None
    np.testing.assert_array_equal(x.example, example.numpy())


def test_a_program_that_casts_to_float32_is_in_float64_throughout() -> None:
    x = np.float32([0.1, 0.7, 1.3])
    both = outputs(TorchModel(exported(Casting(), torch.from_numpy(x))), [x])
    exact = x.astype(np.float64) + 1 / 3
    assert both.own["output 0"].dtype == np.float32
    np.testing.assert_allclose(both.double["output 0"], exact, rtol=1e-14)


def test_a_step_alone_is_in_float64_of_its_own_operands() -> None:
    program = exported(Last(), torch.randn(2, 5, 3)).run_decompositions()
    x = np.random.default_rng(0).standard_normal((2, 5, 3)).astype(np.float32)
    names = [node.name for node in program.graph.nodes if node.op == "call_function"]
    values = steps(program, [x], names)
    assert set(values.own) == set(names)
    relu = next(name for name in names if "relu" in name)
    select = next(name for name in names if "select" in name)
    np.testing.assert_array_equal(
        values.double[relu], np.maximum(values.own[select].astype(np.float64), 0)
    )


def test_the_module_itself_is_compared_with_what_was_exported() -> None:
    module = Last().eval()
    program = exported(module, torch.randn(2, 5, 3))
    x = np.random.default_rng(0).standard_normal((2, 5, 3)).astype(np.float32)
    model = TorchModel(program, module)
    own = outputs(model, [x]).own
    for name, value in eager(model, [x]).items():
        np.testing.assert_allclose(value, own[name], rtol=1e-6, atol=1e-7)


class Counting(nn.Module):
    """Changes a buffer in each run."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(1)
        return x + self.count


def test_each_run_begins_with_the_buffers_of_the_model() -> None:
    module = Counting().eval()
    model = TorchModel(exported(module, torch.ones(3)), module)
    x = np.ones(3, np.float32)
    for _ in range(2):
        both = outputs(model, [x])
        np.testing.assert_array_equal(both.own["output 0"], x + 1)
        np.testing.assert_array_equal(both.double["output 0"], x + 1)
        np.testing.assert_array_equal(eager(model, [x])["output 0"], x + 1)
