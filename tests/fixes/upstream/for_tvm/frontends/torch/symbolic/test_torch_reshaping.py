"""Views with symbolic sizes in exported PyTorch programs."""

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
    return torch.arange(int(np.prod(shape)), dtype=torch.float32).reshape(shape) / 7


def test_symbols():
    verify(lambda x: x.view(x.shape[1], 1), (1,), floats(1, 3), floats(1, 5))
    verify(lambda x: x.view(2, x.shape[0], 2), (0,), floats(3, 4), floats(5, 4))


def test_no_dimensions():
    verify(lambda x: x.squeeze(0) * 2, (), floats())


if __name__ == "__main__":
    tvm.testing.main()
