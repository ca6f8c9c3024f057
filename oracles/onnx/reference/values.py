"""The values of a model as estimates, and estimates as outputs.

ONNX has floating-point dtypes beside ``FORMATS``: those of 8 bits without infinities, and of 4.
Operators move numbers of them, and cast from and to them; nothing computes in them. Their estimates
have a longdouble ``value`` too.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

from relaxcheck.generators.core.values import Array, numpy_dtype
from relaxcheck.oracles.answer import Bounded, Unsupported
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, Flags, exact, finished

NARROWEST = ("float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn")
"""The floating-point dtypes of ONNX that have no entry in ``FORMATS``."""

_OTHERS = ("string", "complex64", "complex128")


def is_float(dtype: str) -> bool:
    """True for a floating-point dtype."""
    return dtype in FORMATS or dtype in NARROWEST


def stored(array: Array, dtype: str) -> Estimate:
    """The estimate of ``array``, a tensor of ``dtype``: exact.

    Raises:
        Unsupported: the dtype is no number's, or an element does not fit int64.
    """
    if dtype in _OTHERS:
        raise Unsupported(f"reference: {dtype}")
    if dtype in NARROWEST:
        return Estimate(array.astype(np.longdouble), np.zeros(array.shape), dtype, signed=True)
    try:
        return exact(array, dtype)
    except ValueError as error:
        raise Unsupported(f"reference: {error}") from error


def whole(array: Any, dtype: str = "int64") -> Estimate:
    """The estimate of integers or truth values, known to fit ``dtype``."""
    value: Array = np.asarray(array, np.int64)
    return Estimate(value, np.zeros(value.shape), dtype)


def output(estimate: Estimate) -> Bounded:
    """The output that ``estimate`` stands for."""
    if estimate.dtype in NARROWEST:
        return Bounded(estimate.value.astype(np.float64), estimate.error, estimate.dtype)
    return finished(estimate)


def limits(dtype: str) -> tuple[int, int]:
    """The least and the largest integer of ``dtype``, within int64."""
    if dtype == "bool":
        return 0, 1
    of: Any = ml_dtypes.iinfo(numpy_dtype(dtype))
    return int(of.min), min(int(of.max), 2**63 - 1)


def moved(operand: Estimate, move: Callable[[Array], Array]) -> Estimate:
    """``operand`` with its value and error moved alike."""
    return replace(operand, value=move(operand.value), error=move(operand.error))


def joined(operands: Sequence[Estimate], join: Callable[[list[Array]], Array]) -> Estimate:
    """Operands of one dtype as one, their values and errors joined alike."""
    return replace(
        operands[0],
        value=join([each.value for each in operands]),
        error=join([each.error for each in operands]),
        signed=all(each.signed for each in operands),
    )


def chosen(condition: Flags, left: Estimate, right: Estimate) -> Estimate:
    """``left`` where ``condition`` holds, else ``right``, broadcast."""
    return Estimate(
        np.where(condition, left.value, right.value),
        np.where(condition, left.error, right.error),
        left.dtype,
        signed=left.signed and right.signed,
    )
