"""Limits of clamp in exported PyTorch programs."""

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


INTEGERS = torch.tensor([5, -7, 2])


def test_one_side():
    verify(lambda x: x.clamp(max=2), INTEGERS)
    verify(lambda x: x.clamp(min=0), INTEGERS)
    verify(lambda x: x.clamp(max=0.5), INTEGERS.float())
    verify(lambda x: torch.clamp_max(x, 0.5), INTEGERS.float())


def test_dtypes():
    verify(lambda x: x.clamp(-0.5, 1.5), INTEGERS)
    verify(lambda x, y: x.clamp(min=y), INTEGERS, INTEGERS[:1])


if __name__ == "__main__":
    tvm.testing.main()
