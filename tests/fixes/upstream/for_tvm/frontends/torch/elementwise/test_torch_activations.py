"""Attributes of activations in exported PyTorch programs."""

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
    np.testing.assert_allclose(result.numpy(), expected, 1e-5, 1e-5)


DATA = torch.tensor([-1.5, 2.0, -0.25])


def test_elu():
    verify(torch.nn.SELU(), DATA)
    verify(torch.nn.ELU(0.5), DATA)


def test_celu():
    verify(torch.nn.CELU(2.0), DATA)
    verify(torch.nn.CELU(0.5), DATA)


def test_missing():
    verify(torch.nn.Mish(), DATA)
    verify(torch.nn.Hardshrink(0.5), DATA)
    verify(torch.nn.Threshold(0.5, 3.0), DATA)


if __name__ == "__main__":
    tvm.testing.main()
