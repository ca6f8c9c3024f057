"""Sorting and searching of exported PyTorch programs."""

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
        np.testing.assert_allclose(result.numpy(), tensor.numpy(), 1e-6, 1e-6)


NAN = float("nan")
DATA = torch.tensor([[NAN, 1.0, 2.0], [3.0, NAN, 0.0]])


def test_sorting():
    verify(torch.sort, DATA)
    verify(lambda x: torch.sort(x, descending=True), DATA)
    verify(lambda x: torch.argsort(x, stable=True), DATA > 1)


def test_selecting():
    verify(torch.nonzero, DATA > 1)


def test_searching():
    verify(torch.searchsorted, torch.tensor([1.0, 2.0, 2.0, 4.0]), DATA)


if __name__ == "__main__":
    tvm.testing.main()
