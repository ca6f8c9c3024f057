"""Convolutions of exported PyTorch programs."""

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


DATA = torch.arange(12, dtype=torch.float32).reshape(1, 2, 6).sin()
WEIGHT = torch.arange(12, dtype=torch.float32).reshape(2, 2, 3).cos()
functional = torch.nn.functional


def test_dtypes():
    verify(lambda x, w: functional.conv1d(x, w, padding=1), DATA.double(), WEIGHT.double())


def test_one_sample():
    verify(functional.conv1d, DATA[0], WEIGHT)
    verify(lambda x, w: functional.conv1d(x, w, padding="same"), DATA[0], WEIGHT)


def test_volumes():
    verify(functional.conv_transpose3d, DATA[..., None, None], WEIGHT[..., None, None])


def test_output_padding():
    verify(
        lambda x, w: functional.conv_transpose1d(x, w, output_padding=1, dilation=2), DATA, WEIGHT
    )


if __name__ == "__main__":
    tvm.testing.main()
