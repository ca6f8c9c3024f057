"""Shifts, signs and special functions of exported PyTorch programs."""

import numpy as np
import torch
import tvm.testing
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


DATA = torch.tensor([0.5, -0.25, 3.0])
COUNTS = torch.tensor([0, 3, 70])


def test_shifts():
    verify(lambda x: x << 3, COUNTS)
    verify(torch.bitwise_right_shift, COUNTS, COUNTS)


def test_signs():
    verify(torch.copysign, DATA, -DATA)
    verify(torch.signbit, DATA)


def test_functions():
    verify(torch.lgamma, DATA)
    verify(torch.digamma, DATA)
    verify(torch.erfc, DATA)


if __name__ == "__main__":
    tvm.testing.main()
