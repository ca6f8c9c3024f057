"""The dtypes of tensors that exported PyTorch programs make."""

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


DATA = torch.tensor([1.0, 2.0])


def verify_undecomposed(function):
    """Compare with PyTorch, without its decompositions."""

    class Model(torch.nn.Module):
        def forward(self, x):
            return function(x)

    program = torch.export.export(Model(), (DATA,))
    module = from_exported_program(program, run_ep_decomposition=False)
    executable = relax.build(module, tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    (result,) = machine["main"](tvm.runtime.tensor(DATA.numpy()))
    expected = function(DATA).numpy()
    assert result.numpy().dtype == expected.dtype
    np.testing.assert_array_equal(result.numpy(), expected)


def test_dtypes():
    verify_undecomposed(lambda x: torch.zeros_like(x, dtype=torch.int64))
    verify_undecomposed(lambda x: x.new_ones(3, dtype=torch.int64))
    verify(lambda x: torch.full_like(x, 3, dtype=torch.int64), DATA)


def test_missing():
    verify_undecomposed(lambda x: x.new_full((2,), 3.5))
    verify_undecomposed(lambda x: torch.tril_indices(3, 2, -1) + x.new_ones(1))


if __name__ == "__main__":
    tvm.testing.main()
