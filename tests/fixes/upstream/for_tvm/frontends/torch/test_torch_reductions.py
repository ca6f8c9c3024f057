"""Reductions of exported PyTorch programs."""

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


DATA = torch.tensor([[1.0, 2.0, -4.0], [3.0, 0.0, 0.5]])


def test_amax():
    verify(lambda x: torch.amax(x, 1), DATA)
    verify(lambda x: torch.amin(x, (0, 1), keepdim=True), DATA)
    verify(lambda x: torch.min(x, 1).indices, DATA)


def test_products():
    verify(torch.prod, DATA.int())
    verify(lambda x: torch.prod(x, 1), DATA)


def test_any():
    verify(lambda x: torch.any(x, 1), DATA)
    verify(torch.all, DATA)


def test_deviation():
    verify(lambda x: torch.std(x, 1), DATA)
    verify(lambda x: torch.var_mean(x, 1)[1], DATA)


def test_norms():
    verify(lambda x: torch.linalg.vector_norm(x, 0), DATA)
    verify(lambda x: torch.linalg.vector_norm(x, float("inf"), 1), DATA)


if __name__ == "__main__":
    tvm.testing.main()
