"""Casts and softmax of exported PyTorch programs."""

import numpy as np
import torch
import tvm.testing
from torch.nn import functional
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
        np.testing.assert_allclose(result.numpy(), tensor.numpy(), 1e-6, 1e-6)


DATA = torch.tensor([[1.0, 2.0], [3.0, 0.0]])


def test_softmax():
    verify(lambda x: functional.softmax(x, 1, dtype=torch.float64), DATA)
    verify(lambda x: functional.log_softmax(x, 1, dtype=torch.float64), DATA)


def test_casts():
    verify(lambda x: x.to(torch.int64, memory_format=torch.contiguous_format), DATA)


def test_filling():
    verify(lambda x: torch.fill(x, torch.tensor(2)), DATA)


if __name__ == "__main__":
    tvm.testing.main()
