"""Views by strides in exported PyTorch programs."""

import numpy as np
import torch
import tvm.testing
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


def verify(size, stride, offset):
    class Model(torch.nn.Module):
        def forward(self, data):
            return data.as_strided(size, stride, offset) * 2

    data = torch.arange(12.0).reshape(3, 4)
    module = from_exported_program(torch.export.export(Model(), (data,)))
    machine = relax.VirtualMachine(relax.build(module, tvm.target.Target("llvm")), tvm.cpu())
    (result,) = machine["main"](tvm.runtime.tensor(data.numpy()))
    np.testing.assert_allclose(result.numpy(), Model()(data))


def test_strides():
    verify((2, 3), (1, 3), 0)
    verify((2, 2, 3), (0, 4, 1), 0)


def test_offset():
    verify((2, 3), (3, 1), 2)
    verify((5, 4), (1, 2), 1)


if __name__ == "__main__":
    tvm.testing.main()
