"""Tensors filled with infinities and NaN.

TOPI asks whether the dtype's name says that it is a float. It has become a type, which has no
substrings.
"""

import math
from typing import Any

import numpy as np
from tvm import relax, topi
from tvm.topi import cpp

from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, Rebinding
from relaxcheck.fixes.framework.patch import Body
from relaxcheck.fixes.tvm_api import Tensor

OPERATORS = ("relax.full", "relax.full_like")

_ORIGINAL = topi.full


def full(shape: Any, dtype: Any, fill_value: Any) -> Tensor:
    """The tensor of ``shape`` that has ``fill_value`` everywhere."""
    is_finite = not isinstance(fill_value, int | float) or math.isfinite(fill_value)
    if not is_finite and "float" not in str(dtype):
        raise ValueError("Infinite and NaN require a floating-point dtype.")
    return cpp.full(shape, dtype, fill_value)


def fills_with_infinity() -> bool:
    """True if three infinities are lowered and computed."""

    def make(x: Any) -> Any:
        return relax.op.full_like(x, relax.const(math.inf, "float32"))

    call = probes.one_call(make, (3,))
    return probes.computes(call, [], np.full(3, math.inf))


FIX = Fix(
    name="filled",
    operators=OPERATORS,
    fault="tensors of infinities and of NaN are not lowered: argument of type 'PrimType'",
    issue=None,
    parts=(FaultPart("infinities", lambda: not fills_with_infinity()),),
    rebindings=lambda: (Rebinding(_ORIGINAL, full),),
    after="unsigned_negation",
    patch=(Body("topi/tensor.py", full),),
)
