"""Operands and constants of conversions that compute element by element."""

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.converting import Node
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/onnx/elementwise/numbers.py")

Number = Callable[[float], Expr]
"""Makes a constant of the dtype that is computed in."""

HALVES = ("float16", "bfloat16")


def tensor(node: Node, index: int) -> Expr:
    """The input number ``index`` as a tensor, which a shape or an integer becomes."""
    return operands.tensor(node, node.inputs[index])


def is_float(dtype: str) -> bool:
    """True for floating-point dtypes, those of 8 bits and fewer included."""
    return "float" in dtype


def wide(dtype: str) -> str:
    """The dtype to compute in: float32 for narrower floating-point dtypes, else ``dtype``."""
    return "float32" if is_float(dtype) and dtype != "float64" else dtype


def cast(value: Expr, dtype: str, to: str) -> Expr:
    """``value``, of ``dtype``, in the dtype ``to``."""
    return value if dtype == to else relax.op.astype(value, to)


def constant(value: float, dtype: str) -> Expr:
    """The scalar ``value`` of ``dtype``."""
    return relax.const(value, dtype)


def single(value: float) -> float:
    """``value`` rounded to float32, as ONNX holds attributes."""
    return float(np.float32(value))


def of_floats(node: Node, compute: Callable[..., Expr]) -> Expr:
    """``compute(number, *inputs)`` in float32 or float64, in the dtype of the first input.

    ``number`` makes constants, which are rounded to float32 first.
    """
    values = [tensor(node, index) for index in range(len(node.inputs))]
    dtype = tvm_api.dtype_of(values[0])
    inner = wide(dtype)

    def number(value: float) -> Expr:
        return constant(single(value), inner)

    result = compute(number, *(cast(each, dtype, inner) for each in values))
    return cast(result, inner, dtype)


def is_nan(value: Expr, dtype: str) -> Expr:
    """The condition that elements of ``value``, of ``dtype``, are NaN."""
    return relax.op.isnan(cast(value, dtype, wide(dtype)))


def attributes(node: Node, **defaults: float) -> list[float]:
    """The attributes of these names as numbers, in order."""
    values: list[Any] = [node.attribute(name, default) for name, default in defaults.items()]
    return [float(value) for value in values]
