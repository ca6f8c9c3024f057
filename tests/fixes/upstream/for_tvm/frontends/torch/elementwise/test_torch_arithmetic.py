"""Promotion of dtypes, and the attributes of arithmetic, of exported PyTorch programs."""

import numpy as np
import torch
import tvm.testing
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


def verify(function, *inputs):
    """Compare with PyTorch, dtypes too."""

    class Model(torch.nn.Module):
        def forward(self, *inputs):
            return function(*inputs)

    program = torch.export.export(Model(), inputs)
    executable = relax.build(from_exported_program(program), tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    (result,) = machine["main"](*(tvm.runtime.tensor(tensor.numpy()) for tensor in inputs))
    expected = function(*inputs).numpy()
    assert result.numpy().dtype == expected.dtype
    np.testing.assert_allclose(result.numpy(), expected, 1e-6)


FLOATS = torch.tensor([1.5, -3.0, 4.0])
INTEGERS = torch.tensor([5, -7, 2])


def test_sizes():
    class Model(torch.nn.Module):
        def forward(self, x):
            half = torch.nn.functional.max_pool1d(x, 2)
            quarter = torch.nn.functional.max_pool1d(half, 2)
            return torch.cat([torch.nn.functional.pad(quarter, (0, quarter.shape[2])) + half, half])

    data = torch.arange(8, dtype=torch.float32).reshape(1, 1, 8)
    program = torch.export.export(Model(), (data,), dynamic_shapes=({2: torch.export.Dim.AUTO},))
    module = from_exported_program(program)
    executable = relax.build(module, tvm.target.Target("llvm"))
    (result,) = relax.VirtualMachine(executable, tvm.cpu())["main"](
        tvm.runtime.tensor(data.numpy())
    )
    np.testing.assert_allclose(result.numpy(), Model()(data).numpy())


def test_alpha():
    verify(lambda x, y: torch.add(x, y, alpha=2), FLOATS, FLOATS)
    verify(lambda x, y: torch.sub(x, y, alpha=3), INTEGERS, INTEGERS)


def test_numbers():
    verify(lambda x: x * 1.5, INTEGERS)
    verify(lambda x: x - 0.5, INTEGERS)
    verify(lambda x: 2 - x, FLOATS)


def test_quotients():
    verify(lambda x: x / 2, INTEGERS)
    verify(lambda x, y: torch.div(x, y, rounding_mode="floor"), INTEGERS, -INTEGERS + 1)
    verify(lambda x, y: torch.fmod(x, y), INTEGERS, FLOATS)


def test_comparisons():
    verify(lambda x: x < 2.5, INTEGERS)
    verify(lambda x, y: x == y, INTEGERS > 0, INTEGERS > 3)


def test_powers():
    verify(torch.pow, INTEGERS, INTEGERS.abs())


if __name__ == "__main__":
    tvm.testing.main()
