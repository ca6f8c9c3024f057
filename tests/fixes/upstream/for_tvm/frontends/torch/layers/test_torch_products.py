"""Products of exported PyTorch programs."""

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
    np.testing.assert_allclose(result.numpy(), expected, 1e-9, 1e-9)


DATA = torch.arange(6, dtype=torch.float64).reshape(2, 3) * 0.1


def test_dtypes():
    verify(lambda x: x @ x.T, DATA)
    verify(lambda x: x @ x.T, (DATA * 10).long())
    verify(lambda x: torch.nn.functional.linear(x, x), DATA)


def test_missing():
    verify(lambda x: torch.addmv(x[:, 0], x, x[1], alpha=2), DATA)
    verify(lambda x: torch.addbmm(x @ x.T, x[None], x.T[None], beta=0.5), DATA)

    verify(lambda x: torch.nn.functional.bilinear(x, x, x[:1, :, None] * x[0]), DATA)


if __name__ == "__main__":
    tvm.testing.main()
