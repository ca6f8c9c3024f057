"""Grids and distances in exported PyTorch programs."""

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


DATA = torch.arange(20, dtype=torch.float32).reshape(1, 1, 4, 5).sin()
functional = torch.nn.functional


def test_grids():
    grid = torch.arange(12, dtype=torch.float32).reshape(1, 2, 3, 2).cos()
    verify(lambda x, g: functional.grid_sample(x, g, align_corners=False), DATA, grid)


def test_volumes():
    grid = torch.arange(18, dtype=torch.float32).reshape(1, 1, 2, 3, 3).cos()
    verify(lambda x, g: functional.grid_sample(x, g, align_corners=False), DATA[None], grid)


def test_maps():
    theta = torch.tensor([[[1.0, 0.0, 0.5], [0.5, 1.0, 0.0]]])
    verify(lambda x: functional.affine_grid(x, [1, 1, 3, 4], False), theta)
    verify(lambda x: functional.affine_grid(x, [1, 1, 3, 4], True), theta)


def test_distances():
    verify(lambda x: torch.cdist(x, x[:, :2] + 1), DATA[0])


if __name__ == "__main__":
    tvm.testing.main()
