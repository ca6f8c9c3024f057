"""Indices from the end of exported PyTorch programs."""

import numpy as np
import torch
import tvm.testing
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


def verify(function, *inputs):
    """Compare with PyTorch."""

    class Model(torch.nn.Module):
        def forward(self, *inputs):
            return function(*inputs)

    program = torch.export.export(Model(), inputs)
    executable = relax.build(from_exported_program(program), tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    (result,) = machine["main"](*(tvm.runtime.tensor(tensor.numpy()) for tensor in inputs))
    np.testing.assert_array_equal(result.numpy(), function(*inputs).numpy())


def test_select():
    data = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
    verify(lambda x: x[:, -1], data)
    verify(lambda x: x[-2], data)
    verify(lambda x: x[..., -4], data)


def test_take():
    verify(torch.take, torch.arange(6.0).reshape(2, 3), torch.tensor([[-1, 0], [2, -6]]))


def test_index():
    data = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
    places = torch.tensor([-1, 0, -2])
    verify(lambda x, i: x[:, i], data, places)
    verify(lambda x, i: x[:, i, i], data, places)
    verify(lambda x, i: x[i % 2, :, i], data, places)


def test_no_dimensions():
    verify(lambda x, i: torch.gather(x, 0, i), torch.tensor(2.0), torch.tensor([0]))


if __name__ == "__main__":
    tvm.testing.main()
