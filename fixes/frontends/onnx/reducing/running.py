"""ONNX's CumSum and CumProd.

TVM refuses an axis at run time, and lacks CumProd.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.framework.probes import Array
from relaxcheck.fixes.frontends.onnx import lines as onnx_lines
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import computed, looped
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.frontends.onnx.recurrent.cells import loop, store
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/running.py")

_PLAIN = ("float32", "float64", "int32", "int64")
"""The dtypes of which TVM's own operators compute running sums and products."""


def convert(node: Node) -> Expr:
    """The running sums or products along an axis.

    Raises:
        ValueError: there is no such axis, or an attribute is invalid.
    """
    data = operands.required(node, 0, "x")
    reverse, exclusive = operands.flag(node, "reverse"), operands.flag(node, "exclusive")
    dims = tvm_api.shape_of(data)
    if not dims:
        dims = [tvm_api.integer(1)]
    lines = onnx_lines.read(node, "axis", dims, 1, 0)
    dtype = tvm_api.dtype_of(data)
    sums = node.operator == "CumSum"
    if lines.axis is not None and not reverse and dtype in _PLAIN and 0 not in _known(dims):
        function = relax.op.cumsum if sums else relax.op.cumprod
        result = node.emit(function(data, lines.axis, exclusive=exclusive))
        return operands.widened(node, result, dtype)
    inner = operands.inner_dtype(dtype)
    wide = operands.reshaped(node, operands.widened(node, data, inner), lines.shape)

    def compute(source: Tensor) -> Tensor:
        def body(ins: Sequence[Any], outs: Sequence[Any]) -> Any:
            return _scanned(ins[0], outs, source.shape, sums, reverse, exclusive)

        return looped("running", [source.shape, (1,)], [inner, inner], [source], body)

    both = computed(node, compute, wide)
    result = operands.reshaped(node, node.emit(relax.TupleGetItem(both, 0)), tvm_api.shape_of(data))
    return operands.widened(node, result, dtype)


def _known(dims: Sequence[PrimExpr]) -> list[int | None]:
    return list(map(tvm_api.as_int, dims))


def _scanned(
    source: Any,
    outs: Sequence[Any],
    shape: Sequence[PrimExpr],
    sums: bool,
    reverse: bool,
    exclusive: bool,
) -> Any:
    """Write the running result of each line, whose state is in the second of ``outs``."""
    result, state = outs
    outer, length, inner = shape
    zero, one = tvm_api.integer(0), tvm_api.integer(1)
    start = tirx.const(0 if sums else 1, tvm_api.dtype_of(result))

    def line(i: PrimExpr, j: PrimExpr) -> Any:
        def step(t: PrimExpr) -> Any:
            place = [i, length - one - t if reverse else t, j]
            before, element = state[zero], source[tuple(place)]
            after = before + element if sums else before * element
            write = store(result, state[zero], place)
            update = store(state, after, [zero])
            return tirx.SeqStmt([write, update] if exclusive else [update, write])

        return tirx.SeqStmt([store(state, start, [zero]), loop("t", length, step)])

    return loop("i", outer, lambda i: loop("j", inner, lambda j: line(i, j)))


CONVERSIONS: dict[str, Convert] = {"CumSum": convert, "CumProd": convert}


def _refuses_axes() -> bool:
    """True if an axis at run time is refused."""
    inputs: dict[str, Array] = {
        "x": np.array([[1, 2], [3, 4]], np.float32),
        "axis": np.array(-1, np.int64),
    }
    expected = np.array([[1, 3], [3, 7]], np.float32)
    return fails(node_model("CumSum", inputs, 14), list(inputs.values()), [expected])


def _lacks_products() -> bool:
    """True if running products are not imported."""
    from onnx import defs

    inputs: dict[str, Array] = {"x": np.array([2, 3, 4], np.float32), "axis": np.array(0, np.int64)}
    opset = min(26, defs.onnx_opset_version())
    model = node_model("CumProd", inputs, opset, held=("axis",), exclusive=1)
    return fails(model, [inputs["x"]], [np.array([1, 2, 6], np.float32)])


FIX = Fix(
    name="onnx_running",
    operators=tuple(CONVERSIONS),
    fault="an axis of ONNX's CumSum at run time is refused; CumProd is not imported",
    issue=None,
    parts=(
        FaultPart("axes at run time", _refuses_axes),
        FaultPart("products", _lacks_products),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_unfolding",
    patch=patch(CONVERSIONS),
)
