"""The largest elements of windows, and their places, of exported PyTorch programs."""

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


DATA = torch.tensor([[[[1.0, 5.0, 2.0], [4.0, 3.0, 9.0], [0.0, 6.0, 8.0]]]])


def test_places():
    verify(lambda x: functional.max_pool2d(x, 2, 1, return_indices=True), DATA)
    verify(lambda x: functional.max_pool2d(x, 2, 1, 1, return_indices=True), DATA)


def test_no_stride():
    verify(lambda x: torch.ops.aten.max_pool2d.default(x, [2, 2], []), DATA)


if __name__ == "__main__":
    tvm.testing.main()
