"""Windows of pooling in exported PyTorch programs."""

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


DATA = torch.arange(20, dtype=torch.float32).reshape(1, 1, 4, 5).sin()
functional = torch.nn.functional


def test_divisors():
    verify(lambda x: functional.avg_pool2d(x, 2, divisor_override=3), DATA)
    verify(lambda x: functional.avg_pool2d(x, 2, 2, 1, True, False), DATA)


def test_adaptive():
    verify(lambda x: functional.adaptive_max_pool2d(x, (2, 3)), DATA)
    verify(lambda x: functional.adaptive_max_pool2d(x, 1), DATA)


def test_one_sample_and_symbolic_sizes():
    verify(lambda x: functional.adaptive_avg_pool1d(x, 2), DATA[0, 0])
    verify(lambda x: functional.adaptive_avg_pool2d(x, (x.shape[2], 2)), DATA)


if __name__ == "__main__":
    tvm.testing.main()
