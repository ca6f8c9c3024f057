"""Functions of FX graphs whose attributes, dtypes or indices the importer used to drop."""

import numpy as np
import torch
import tvm.testing
from torch import nn
from tvm import relax
from tvm.relax.frontend.torch import from_fx

DATA = torch.sin(torch.arange(120.0)).reshape(2, 3, 4, 5)


def verify(function, data=DATA):
    class Model(nn.Module):
        def forward(self, x):
            return function(x)

    model = function if isinstance(function, nn.Module) else Model()
    types = [(tuple(data.shape), str(data.dtype).partition(".")[2])]
    module = from_fx(torch.fx.symbolic_trace(model), types)
    machine = relax.VirtualMachine(relax.build(module, tvm.target.Target("llvm")), tvm.cpu())
    result = machine["main"](tvm.runtime.tensor(data.numpy())).numpy()
    expected = model(data).numpy()
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, 1e-5, 1e-5)


def test_corrections():
    verify(lambda x: x.var(1))


def test_dtypes():
    verify(lambda x: torch.softmax(x, 1, dtype=torch.float64))


def test_missing():
    verify(lambda x: torch.expm1(x))


if __name__ == "__main__":
    tvm.testing.main()
