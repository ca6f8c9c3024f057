"""Running sums of exported PyTorch programs."""

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


def test_bools():
    verify(lambda x: torch.cumsum(x, 0), torch.tensor([True, False, True]))
    verify(lambda x: torch.cumprod(x, 0), torch.tensor([100, 100], dtype=torch.int8))


def test_no_dimensions():
    verify(lambda x: torch.cumsum(x, 0), torch.tensor(2.0))
    verify(lambda x: torch.cumprod(x, 0), torch.tensor(2.0))


def test_missing():
    verify(lambda x: torch.cummax(x, 0)[0], torch.tensor([1.0, 3.0, 2.0]))
    verify(lambda x: torch.cummin(x, 0)[1], torch.tensor([1, 1, 2, 0]))


if __name__ == "__main__":
    tvm.testing.main()
