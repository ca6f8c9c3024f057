"""aten.clamp raises an error when it is imported

This script needs tvm, torch and numpy. It exits with 1 while the bug is
there, and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
TypeError: broadcast_to requires the input data to be Tensor. However, the given one is ir.PrimType
"""

import math
import operator
import sys

import numpy as np
import torch
import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


class Piece(torch.nn.Module):
    def forward(self, tensors_0, arange_2):
        sym_size_int_18 = torch.ops.aten.sym_size.int(tensors_0, 2)
        sub = operator.sub(sym_size_int_18, 1)
        clamp = torch.ops.aten.clamp.default(arange_2, 0, sub)
        return (clamp,)


rng = np.random.default_rng(0)
inputs = (
    rng.standard_normal((2, 3, 16, 24)).astype("float32"),  # tensors_0
    np.array([-4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19], "int64"),  # arange_2
)
s43 = torch.export.Dim("s43")
s68 = torch.export.Dim("s68")
s95 = torch.export.Dim("s95")
tensors = tuple(map(torch.from_numpy, inputs))
expected = [each.numpy() for each in Piece()(*tensors)]
program = torch.export.export(Piece(), tensors, dynamic_shapes={"tensors_0": {0: s95, 2: s68, 3: s43}, "arange_2": {}})
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
for name, own, wanted in zip(['clamp'], [each.numpy() for each in result], expected):
    print(f"{name} of PyTorch: {wanted.dtype}{list(wanted.shape)}\n{wanted}")
    print(f"{name} of TVM: {own.dtype}{list(own.shape)}\n{own}")
    scale = np.abs(wanted[np.isfinite(wanted)]).max(initial=0) if wanted.dtype.kind == "f" else 0
    limit = scale * (np.finfo(wanted.dtype).eps * 1000 if wanted.dtype.kind == "f" else 0)
    wrong |= own.shape != wanted.shape or own.dtype != wanted.dtype
    wrong = wrong or not np.allclose(own, wanted, 0, limit, equal_nan=True)
sys.exit(wrong)
