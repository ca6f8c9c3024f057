"""Functions of exported PyTorch programs that PyTorch alone knows how to decompose."""

import numpy as np
import torch
import tvm.testing
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.frac(x)


def test_undecomposed():
    data = torch.tensor([1.5, -2.25])
    module = from_exported_program(
        torch.export.export(Model(), (data,)), run_ep_decomposition=False
    )
    executable = relax.build(module, tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    (result,) = machine["main"](tvm.runtime.tensor(data.numpy()))
    np.testing.assert_array_equal(result.numpy(), torch.frac(data).numpy())


if __name__ == "__main__":
    tvm.testing.main()
