"""Grouped-query attention: 4 query heads over 2 key/value heads, compiled by TVM as it is now."""

import numpy as np
import tvm
from tvm import relax
from tvm.script import relax as R

_SHAPES = ((1, 4, 4, 8), (1, 4, 2, 8), (1, 4, 2, 8))  # batch, length, heads, head size


def attention() -> np.ndarray:
    """The result of ``nn.attention`` on random inputs, the same at each call."""
    variables = [
        relax.Var(name, R.Tensor(shape, "float32"))
        for name, shape in zip("qkv", _SHAPES, strict=True)
    ]
    builder = relax.BlockBuilder()
    with builder.function("main", variables):
        builder.emit_func_output(builder.emit(relax.op.nn.attention(*variables)))
    run = relax.VirtualMachine(relax.build(builder.get(), "llvm"), tvm.cpu())["main"]
    random = np.random.default_rng(0)
    inputs = [random.standard_normal(shape, "float32") for shape in _SHAPES]
    return run(*map(tvm.runtime.tensor, inputs)).numpy()
