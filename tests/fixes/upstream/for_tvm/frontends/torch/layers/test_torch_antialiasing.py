"""Interpolation with antialiasing of exported PyTorch programs."""

import numpy as np
import torch
import tvm.testing
from torch.nn import functional
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


def verify(function, *inputs):
    """Compare with PyTorch, dtypes too, without its decompositions."""

    class Model(torch.nn.Module):
        def forward(self, *inputs):
            return function(*inputs)

    program = torch.export.export(Model(), inputs)
    module = from_exported_program(program, run_ep_decomposition=False)
    executable = relax.build(module, tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    results = machine["main"](*(tvm.runtime.tensor(tensor.numpy()) for tensor in inputs))
    expected = torch.utils._pytree.tree_leaves(function(*inputs))
    for result, tensor in zip(results, expected, strict=True):
        assert result.numpy().dtype == tensor.numpy().dtype
        np.testing.assert_allclose(result.numpy(), tensor.numpy(), 1e-5, 1e-5)


def resized(mode, size):
    return lambda x: functional.interpolate(x, size, mode=mode, antialias=True)


DATA = torch.arange(16, dtype=torch.float32).reshape(1, 1, 4, 4) ** 2


def test_linear():
    verify(resized("bilinear", (2, 2)), DATA)


def test_cubic():
    verify(resized("bicubic", (2, 3)), DATA)


if __name__ == "__main__":
    tvm.testing.main()
