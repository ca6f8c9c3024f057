"""Bags of rows of a table in exported PyTorch programs."""

import numpy as np
import torch
import tvm.testing
from torch.nn.functional import embedding_bag
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


def verify(function, *inputs):
    """Compare with PyTorch, dtypes too."""

    class Model(torch.nn.Module):
        def forward(self, *inputs):
            return function(*inputs)

    program = torch.export.export(Model(), inputs)
    module = from_exported_program(program)
    executable = relax.build(module, tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    results = machine["main"](*(tvm.runtime.tensor(tensor.numpy()) for tensor in inputs))
    expected = torch.utils._pytree.tree_leaves(function(*inputs))
    for result, tensor in zip(results, expected, strict=True):
        assert result.numpy().dtype == tensor.numpy().dtype
        np.testing.assert_allclose(result.numpy(), tensor.numpy(), 1e-6, 1e-6)


TABLE = torch.arange(6, dtype=torch.float32).reshape(3, 2)
INDICES = torch.tensor([0, 2, 1, 1])


def test_bags():
    for mode in ("sum", "mean", "max"):
        verify(
            lambda w, i, o, mode=mode: embedding_bag(i, w, o, mode=mode),
            TABLE,
            INDICES,
            INDICES[:2],
        )


if __name__ == "__main__":
    tvm.testing.main()
