"""cat loses its shape where sizes are not proved equal.

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
        half = torch.nn.functional.max_pool2d(x, 2)
        quarter = torch.nn.functional.max_pool2d(half, 2)
        both = torch.cat([quarter.repeat(1, 1, 2, 2), half], 1)
        return torch.nn.functional.conv2d(both, torch.ones(1, 2, 3, 3))


rng = np.random.default_rng(0)
inputs = (
    rng.standard_normal((1, 1, 16, 16)).astype("float32"),
)
tensors = tuple(map(torch.from_numpy, inputs))
expected = Piece()(*tensors).numpy()
auto = torch.export.Dim.AUTO
program = torch.export.export(Piece(), tensors, dynamic_shapes=({2: auto, 3: auto},))
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
