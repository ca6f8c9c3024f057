"""Helpers of gradients, and of the probes of their faults."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tvm
from numpy.typing import NDArray
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.tvm_api import BlockBuilder, Expr, PrimExpr

KEY = "FPrimalGradient"
"""The operator attribute that holds the function to differentiate a call."""

FILE = "relax/op/_op_gradient.py"
"""The file of TVM's gradients, below ``python/tvm``."""


def fitted(builder: BlockBuilder, gradient: Expr, operand: Expr) -> Expr:
    """``gradient`` summed up over the axes along which ``operand`` was broadcast."""
    shape = tvm_api.shape_of(operand)
    own = tvm_api.shape_of(builder.normalize(gradient))
    if len(own) == len(shape) and all(map(tvm_api.proves_equal, own, shape)):
        return gradient
    return relax.op.collapse_sum_to(gradient, relax.ShapeExpr(shape))


def count_of(operand: Expr, axes: Sequence[PrimExpr] | None, dtype: str) -> Expr:
    """The number of elements of ``operand`` along ``axes`` as a scalar of ``dtype``.

    Where the sizes are numbers it is 1 at least: of nothing, nothing is divided by it either.
    """
    shape = tvm_api.shape_of(operand)
    sizes = shape if axes is None else [shape[int(axis)] for axis in axes]
    known = [tvm_api.as_int(size) for size in sizes]
    if None not in known:
        return relax.const(max(1, int(np.prod([int(each or 0) for each in known]))), dtype)
    listed = relax.op.shape_to_tensor(relax.ShapeExpr(sizes))
    return relax.op.astype(relax.op.prod(listed), dtype)


def program(make: Callable[..., Expr], *shapes: Any, dtypes: tuple[str, ...] = ()) -> Any:
    """A module whose ``main`` is the sum of what ``make`` makes, of tensors of ``shapes``."""
    builder = relax.BlockBuilder()
    variables = probes.inputs(shapes, dtypes)
    with builder.function("main", variables):
        with builder.dataflow():
            result = builder.emit(make(*variables))
            total = builder.emit_output(builder.emit(relax.op.sum(result)))
        builder.emit_func_output(total)
    return builder.get()


def differentiated(module: Any) -> Any:
    """``module`` with the gradient of ``main`` in every parameter of floating point."""
    floats = [each for each in module["main"].params if "float" in tvm_api.dtype_of(each)]
    return relax.transform.Gradient("main", floats)(module)


def shapes(module: Any) -> list[list[int | None]]:
    """The shapes of the gradients, by their types; empty where there are none."""
    try:
        adjoint = differentiated(module)["main_adjoint"]
    except Exception:
        return []
    made = tvm_api.type_of(adjoint.body.body).fields[1].fields
    return [list(map(tvm_api.as_int, each.shape.values)) for each in made]


def gradients(module: Any, *arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """The gradients of ``main`` of ``module`` at ``arrays``.

    Raises:
        Exception: TVM's own, where it cannot differentiate, compile or run the module.
    """
    executable = relax.build(differentiated(module), tvm.target.Target(probes.TARGET))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    _, made = machine["main_adjoint"](*map(tvm.runtime.tensor, arrays))
    return [each.numpy() for each in made]
