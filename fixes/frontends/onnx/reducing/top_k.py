"""ONNX's TopK.

TVM refuses a number at run time, an order that is not asked for, and dtypes that it cannot sort.
"""

from collections.abc import Sequence

import numpy as np
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.framework.probes import Array
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import bounded, computed, filled
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/top_k.py")

_KEYS = {
    "float16": "float32",
    "bfloat16": "float32",
    "bool": "int32",
    "int8": "int32",
    "uint8": "int32",
    "int16": "int32",
    "uint16": "int32",
    "uint32": "int64",
}
"""The dtype that TVM sorts in place of one that it does not sort."""

_HAS_COUNT = 10
"""The opset from which the number of elements is an input."""


def convert(node: Node) -> Expr:
    """The largest or smallest elements along an axis, in order, and their indices.

    Raises:
        ValueError: an attribute or the number of elements is invalid.
    """
    data = operands.required(node, 0, "X")
    dims = tvm_api.shape_of(data)
    axis = operands.normalized(node, "axis", int(node.attribute("axis", -1)), len(dims))
    operands.flag(node, "sorted", 1)
    largest = operands.flag(node, "largest", 1)
    if node.opset < _HAS_COUNT:
        count = tvm_api.integer(int(node.attribute("k", -1)))
    else:
        (count,) = operands.sizes(node, 1, "K", 1)
    known, size = tvm_api.as_int(count), tvm_api.as_int(dims[axis])
    if known is not None and (known < 0 or (size is not None and known > size)):
        why = f"it must be from 0 to {tvm_api.show(dims[axis])}"
        raise invalid(node.operator, why, k=known)
    keys = _keys(node, data)
    order = node.emit(relax.op.argsort(keys, axis, descending=largest, dtype="int64"))

    def first(indices: Tensor, number: list[PrimExpr]) -> Tensor:
        shape = list(indices.shape)
        shape[axis] = number[0]
        return filled(shape, lambda at: indices[tuple(at)], "first")

    def chosen(source: Tensor, indices: Tensor) -> Tensor:
        def element(at: Sequence[PrimExpr]) -> PrimExpr:
            place = list(at)
            place[axis] = bounded(indices[tuple(at)], source.shape[axis])
            return source[tuple(place)]

        return filled(indices.shape, element, "chosen")

    indices = computed(node, first, order, [count])
    return relax.Tuple([computed(node, chosen, data, indices), indices])


def _keys(node: Node, data: Expr) -> Expr:
    """``data`` in a dtype that TVM sorts, in the same order."""
    dtype = tvm_api.dtype_of(data)
    if dtype != "uint64":
        return operands.widened(node, data, _KEYS.get(dtype, dtype))

    def compute(source: Tensor) -> Tensor:
        def element(at: Sequence[PrimExpr]) -> PrimExpr:
            # The highest bit, turned over, becomes the sign.
            turned = source[tuple(at)] ^ tirx.const(1 << 63, dtype)
            return turned.astype("int64")

        return filled(source.shape, element, "keys")

    return computed(node, compute, data)


CONVERSIONS: dict[str, Convert] = {"TopK": convert}


def _refuses_counts() -> bool:
    """True if a number of elements at run time is refused."""
    inputs: dict[str, Array] = {"X": np.array([1, 3, 2], np.float32), "K": np.array([2], np.int64)}
    expected: list[Array] = [np.array([3, 2], np.float32), np.array([1, 2], np.int64)]
    return fails(node_model("TopK", inputs, 11, outputs=2), list(inputs.values()), expected)


def _refuses_disorder() -> bool:
    """True if elements are refused whose order does not matter."""
    inputs: dict[str, Array] = {"X": np.array([1, 3, 2], np.float32), "K": np.array([1], np.int64)}
    model = node_model("TopK", inputs, 11, held=("K",), outputs=2, sorted=0, largest=0)
    expected: list[Array] = [np.array([1], np.float32), np.array([0], np.int64)]
    return fails(model, [inputs["X"]], expected)


FIX = Fix(
    name="onnx_top_k",
    operators=tuple(CONVERSIONS),
    fault="ONNX's TopK refuses a number at run time, and elements in any order",
    issue=None,
    parts=(
        FaultPart("numbers at run time", _refuses_counts),
        FaultPart("any order", _refuses_disorder),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_running",
    patch=patch(CONVERSIONS),
)
