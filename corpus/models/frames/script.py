"""aten.unfold is not imported

This script needs tvm, torch and numpy. It exits with 1 while the bug is
there, and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
AssertionError: Unsupported function types ['unfold.default']
"""

import sys

import numpy as np
import torch
import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


class Piece(torch.nn.Module):
    def forward(self, x):
        unfold = torch.ops.aten.unfold.default(x, -1, 4, 2)
        return (unfold,)


rng = np.random.default_rng(0)
inputs = (
    rng.standard_normal((3, 8)).astype("float32"),  # x
)
tensors = tuple(map(torch.from_numpy, inputs))
expected = [each.numpy() for each in Piece()(*tensors)]
program = torch.export.export(Piece(), tensors)
target = tvm.target.Target({"kind": "llvm", "opt-level": 3})
try:
    module = from_exported_program(program)
    passes = relax.get_default_pipeline(target)
    executable = relax.build(module, target, relax_pipeline=passes)
    result = relax.VirtualMachine(executable, tvm.cpu())["main"](*map(tvm.runtime.tensor, inputs))
except Exception as error:
    print(f"TVM fails: {type(error).__name__}: {error}")
    sys.exit(1)
wrong = False
for name, own, wanted in zip(['unfold'], [each.numpy() for each in result], expected):
    print(f"{name} of PyTorch: {wanted.dtype}{list(wanted.shape)}\n{wanted}")
    print(f"{name} of TVM: {own.dtype}{list(own.shape)}\n{own}")
    scale = np.abs(wanted[np.isfinite(wanted)]).max(initial=0) if wanted.dtype.kind == "f" else 0
    limit = scale * (np.finfo(wanted.dtype).eps * 1000 if wanted.dtype.kind == "f" else 0)
    wrong |= own.shape != wanted.shape or own.dtype != wanted.dtype
    wrong = wrong or not np.allclose(own, wanted, 0, limit, equal_nan=True)
sys.exit(wrong)
