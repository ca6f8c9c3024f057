"""Floats of symbolic sizes in exported PyTorch programs."""

import numpy as np
import torch
import tvm.testing
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


def verify(function, axes, *several):
    """Compare with PyTorch on ``several`` inputs, whose ``axes`` are symbolic."""

    class Model(torch.nn.Module):
        def forward(self, data):
            return function(data)

    shapes = (dict.fromkeys(axes, torch.export.Dim.AUTO),)
    program = torch.export.export(Model(), several[:1], dynamic_shapes=shapes)
    module = from_exported_program(program, run_ep_decomposition=False)
    executable = relax.build(module, tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    for data in several:
        (result,) = machine["main"](tvm.runtime.tensor(data.numpy()))
        expected = function(data).numpy()
        assert result.numpy().dtype == expected.dtype
        np.testing.assert_allclose(result.numpy(), expected, 1e-5, 1e-5)


def floats(*shape):
    return torch.arange(int(np.prod(shape)), dtype=torch.float64).reshape(shape) / 7


def test_floats():
    verify(
        lambda x: x * (torch.sym_float(x.shape[0]) / 7),
        (0,),
        floats(3),
        floats(5),
    )
    verify(lambda x: x + (x.shape[0] / 2 - 1.5), (0,), floats(3, 2), floats(2, 2))


if __name__ == "__main__":
    tvm.testing.main()
