"""Slices and windows of exported PyTorch programs."""

import numpy as np
import torch
import tvm.testing
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


def verify(function, data):
    """Compare with PyTorch, without its decompositions."""

    class Model(torch.nn.Module):
        def forward(self, data):
            return function(data)

    program = torch.export.export(Model(), (data,))
    module = from_exported_program(program, run_ep_decomposition=False)
    executable = relax.build(module, tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    (result,) = machine["main"](tvm.runtime.tensor(data.numpy()))
    expected = function(data).numpy()
    assert result.numpy().dtype == expected.dtype
    np.testing.assert_array_equal(result.numpy(), expected)


DATA = torch.arange(14, dtype=torch.float32).reshape(2, 7)


def test_narrow():
    verify(lambda x: x.narrow(1, 2, 3), DATA)
    verify(lambda x: x.narrow(1, -3, 2), DATA)


def test_unfold():
    verify(lambda x: x.unfold(-1, 3, 2), DATA)
    verify(lambda x: x.unfold(0, 2, 1), DATA)


def test_pieces():
    class Model(torch.nn.Module):
        def forward(self, data):
            half = data.shape[0] // 2
            return data.split([half, data.shape[0] - half])

    shapes = {"data": {0: torch.export.Dim.AUTO}}
    program = torch.export.export(Model(), (DATA.T,), dynamic_shapes=shapes)
    module = from_exported_program(program, run_ep_decomposition=False)
    executable = relax.build(module, tvm.target.Target("llvm"))
    data = DATA.T[:5].contiguous()
    results = relax.VirtualMachine(executable, tvm.cpu())["main"](tvm.runtime.tensor(data.numpy()))
    for result, expected in zip(results, Model()(data), strict=True):
        np.testing.assert_array_equal(result.numpy(), expected.numpy())


if __name__ == "__main__":
    tvm.testing.main()
