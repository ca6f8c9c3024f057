"""cumsum of truth values is of truth values.

This script needs tvm, torch and numpy. It exits with 1 while the bug is
there, and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
"""

import sys

import numpy as np
import torch
import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


class Piece(torch.nn.Module):
    def forward(self, x):
        return torch.cumsum(x > 1, 1)


rng = np.random.default_rng(0)
inputs = (
    np.array([[2, 0, 3, 5]], "int64"),
)
tensors = tuple(map(torch.from_numpy, inputs))
expected = Piece()(*tensors).numpy()
program = torch.export.export(Piece(), tensors)
target = tvm.target.Target({"kind": "llvm", "opt-level": 3})
try:
    module = from_exported_program(program)
    passes = relax.get_default_pipeline(target)
    executable = relax.build(module, target, relax_pipeline=passes)
    main = relax.VirtualMachine(executable, tvm.cpu())["main"]
    (result,) = main(*map(tvm.runtime.tensor, inputs))
except Exception as error:
    print(f"TVM fails: {type(error).__name__}: {error}")
    sys.exit(1)
own = result.numpy()
print(f"PyTorch: {expected.dtype}{list(expected.shape)}\n{expected}")
print(f"TVM: {own.dtype}{list(own.shape)}\n{own}")
same = own.shape == expected.shape and own.dtype == expected.dtype
sys.exit(not (same and np.allclose(own, expected, 1e-4, 1e-5)))
