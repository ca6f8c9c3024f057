"""What the running TVM makes of the loops and the divisions within kernels."""

from collections.abc import Callable

import numpy as np
from tvm import relax, te

from fixes import tvm_api
from fixes.probes import computes, one_call
from fixes.probes_of_shapes import run
from fixes.tvm_api import PrimExpr, Tensor
from fixes.tvm_api_functions import Module

Index = Callable[[PrimExpr, PrimExpr], PrimExpr]


def gathering(index: Index, size: int | None = None) -> Module:
    """A program of a kernel: element i of the result is element ``index(i, n)`` of n float32.

    n is ``size``, or symbolic.
    """
    extent = tvm_api.shape_var("n") if size is None else size
    x = relax.Var("x", tvm_api.tensor_type((extent,), "float32"))

    def compute(data: Tensor) -> Tensor:
        n = data.shape[0]
        return te.compute((n,), lambda i: data[index(i, n)], "y")

    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            result = builder.emit_output(builder.call_te(compute, x))
        builder.emit_func_output(result)
    return builder.get()


def compiles_circular_indices() -> bool:
    """Whether a kernel compiles that reads its input backwards, from 2 on and around its end."""
    module = gathering(lambda i, n: tvm_api.floormod(2 - i, n))
    try:
        return bool((run(module, np.arange(4, dtype="float32")) == [2, 1, 0, 3]).all())
    except Exception:
        return False


def pools_windows_of_two_kinds() -> bool:
    """Whether the mean of three rows in two windows, and of both columns, is of all elements."""
    call = one_call(lambda x: relax.op.nn.adaptive_avg_pool2d(x, (2, 1)), (1, 1, 3, 2))
    array = np.arange(6, dtype="float32").reshape(1, 1, 3, 2)
    return computes(call, [array], np.array([1.5, 3.5]).reshape(1, 1, 2, 1))


def divides_falling_indices() -> bool:
    """Whether kernels read at quotients and remainders, by a number, of what counts down."""
    quotient = gathering(lambda i, n: tvm_api.floordiv(3 - i, 2), 4)
    remainder = gathering(lambda i, n: tvm_api.floormod(3 - i, 2), 4)
    array = np.arange(4, dtype="float32")
    return bool(
        (run(quotient, array) == [1, 1, 0, 0]).all()
        and (run(remainder, array) == [1, 0, 1, 0]).all()
    )
