"""Interpolation of exported PyTorch programs."""

import numpy as np
import torch
import tvm.testing
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


def verify(function, *inputs):
    """Compare with PyTorch, without its decompositions, dtypes too."""

    class Model(torch.nn.Module):
        def forward(self, *inputs):
            return function(*inputs)

    program = torch.export.export(Model(), inputs)
    module = from_exported_program(program, run_ep_decomposition=False)
    executable = relax.build(module, tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    (result,) = machine["main"](*(tvm.runtime.tensor(tensor.numpy()) for tensor in inputs))
    expected = function(*inputs).numpy()
    assert result.numpy().dtype == expected.dtype
    np.testing.assert_allclose(result.numpy(), expected, 1e-5, 1e-5)


DATA = torch.arange(12, dtype=torch.float32).reshape(1, 1, 3, 4).sin()
interpolate = torch.nn.functional.interpolate


def test_nearest():
    verify(lambda x: interpolate(x, (5, 7)), DATA)
    verify(lambda x: interpolate(x, (5, 7), mode="nearest-exact"), DATA)
    verify(lambda x: interpolate(x, scale_factor=0.6), DATA)


def test_factors():
    verify(lambda x: interpolate(x, scale_factor=1.7, mode="bilinear"), DATA)
    verify(lambda x: interpolate(x, (5, 2), mode="bicubic", align_corners=True), DATA)


def test_lines():
    verify(lambda x: interpolate(x, 5, mode="linear"), DATA[0])
    verify(lambda x: interpolate(x, (2, 3, 5), mode="trilinear"), DATA[None])


if __name__ == "__main__":
    tvm.testing.main()
