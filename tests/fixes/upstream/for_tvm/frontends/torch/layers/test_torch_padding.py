"""Padding of exported PyTorch programs."""

import numpy as np
import torch
import tvm.testing
from torch.nn import functional
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


def verify(function, data):
    """Compare with PyTorch, without its decompositions."""

    class Model(torch.nn.Module):
        def forward(self, data):
            return function(data)

    program = torch.export.export(Model(), (data,))
    for decomposes in (False, True):
        module = from_exported_program(program, run_ep_decomposition=decomposes)
        executable = relax.build(module, tvm.target.Target("llvm"))
        machine = relax.VirtualMachine(executable, tvm.cpu())
        (result,) = machine["main"](tvm.runtime.tensor(data.numpy()))
        np.testing.assert_array_equal(result.numpy(), function(data).numpy())


DATA = torch.arange(24, dtype=torch.float32).reshape(1, 2, 3, 4)


def test_reflection():
    verify(lambda x: functional.pad(x, (1, 2, 2, 0), "reflect"), DATA)
    verify(lambda x: functional.pad(x, (1, 2), "reflect"), DATA[0])


def test_replication():
    verify(lambda x: functional.pad(x, (1, 2, 2, 0), "replicate"), DATA)
    verify(lambda x: functional.pad(x, (1, 0, 1, 2, 2, 0), "replicate"), DATA)


def test_negative():
    verify(lambda x: functional.pad(x, (-1, 2, 0, -1), value=7.0), DATA)


if __name__ == "__main__":
    tvm.testing.main()
