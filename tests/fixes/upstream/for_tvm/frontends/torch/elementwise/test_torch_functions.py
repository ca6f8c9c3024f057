"""Functions of integers, and choices, of exported PyTorch programs."""

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
    np.testing.assert_allclose(result.numpy(), expected, 1e-6, 1e-6)


INTEGERS = torch.tensor([1, 2, 5])


def test_integers():
    verify(torch.exp, INTEGERS)
    verify(torch.reciprocal, INTEGERS)
    verify(torch.floor, INTEGERS)
    verify(torch.isnan, INTEGERS)


def test_choices():
    verify(torch.where, INTEGERS > 1, INTEGERS, INTEGERS * 0.5)
    verify(lambda x, y: torch.where(x, y, 0.5), INTEGERS > 1, INTEGERS)


def test_missing():
    verify(torch.exp2, INTEGERS * 0.5)


if __name__ == "__main__":
    tvm.testing.main()
