"""Fields of a tensor at run time, read off NumPy's own arrays."""

from collections.abc import Callable, Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import Array, Type, operator, refuse, whole
from tests.measure.quality.control.summation import Freedom


def _code(x: Array) -> int:
    # NumPy knows bfloat16 as a kind of its own.
    return {"i": 0, "u": 1, "f": 2, "V": 4, "b": 6}[x.dtype.kind]


def _stride(node: Node, x: Array) -> int:
    strides = np.empty(x.shape, np.int8).strides
    return strides[whole(node, "axis")]


_FIELDS: dict[str, Callable[[Node, Array], int]] = {
    "dtype_code": lambda node, x: _code(x),
    "dtype_bits": lambda node, x: 8 * x.dtype.itemsize,
    "dtype_lanes": lambda node, x: 1,
    "ndim": lambda node, x: len(x.shape),
    "byte_offset": lambda node, x: 0,
    "elem_offset": lambda node, x: 0,
    "shape_i": lambda node, x: x.shape[whole(node, "axis")],
    "stride_i": _stride,
}


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    axis = node.attributes.get("axis")
    if axis is not None and not 0 <= whole(node, "axis") < operands[0].rank:
        raise refuse(node, f"axis {axis} of a tensor of rank {operands[0].rank}")
    return Type((), "int64")


def _declare(name: str, field: Callable[[Node, Array], int]) -> None:
    @operator(f"inspect.tensor_{name}", _infer)
    def compute(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
        return np.array(field(node, operands[0]), np.int64)


for _name, _field in _FIELDS.items():
    _declare(_name, _field)
