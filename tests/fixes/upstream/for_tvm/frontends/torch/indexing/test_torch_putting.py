"""Elements put at indices in exported PyTorch programs."""

import numpy as np
import torch
import tvm.testing
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


def verify(function, *inputs):
    """Compare with PyTorch, dtypes too."""

    class Model(torch.nn.Module):
        def forward(self, *inputs):
            return function(*inputs)

    program = torch.export.export(Model(), inputs)
    executable = relax.build(from_exported_program(program), tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    (result,) = machine["main"](*(tvm.runtime.tensor(tensor.numpy()) for tensor in inputs))
    expected = function(*inputs).numpy()
    assert result.numpy().dtype == expected.dtype
    np.testing.assert_allclose(result.numpy(), expected, 1e-6, 1e-6)


DATA = torch.arange(6, dtype=torch.float32).reshape(2, 3)
PLACES = torch.tensor([[0, 0, 2], [-1, 1, 1]])


def test_masks():
    verify(lambda x: torch.index_put(x, (x > 2,), torch.tensor(7.0)), DATA)
    put = torch.ops.aten.index_put
    verify(lambda x, i, y: put(x, [None, i], y), DATA, PLACES[1, :2], DATA[:, :2] + 9)


def test_scatter_add():
    verify(lambda x, i: torch.scatter_add(x, 1, i % 3, x), DATA, PLACES)
    verify(lambda x, i: torch.scatter_reduce(x, 1, i % 3, x, "amax"), DATA, PLACES)


def test_select_scatter():
    verify(lambda x: torch.select_scatter(x, x[:, 0], 1, -1), DATA)


if __name__ == "__main__":
    tvm.testing.main()
