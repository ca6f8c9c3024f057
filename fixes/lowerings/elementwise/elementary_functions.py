"""Hyperbolic functions, their inverses, and the inverse circular ones.

LLVM's lowering calls the C library for most, in float32 and float64 alone, and raises for float16:
that is computed in float32. ``atanh`` is the difference of two logarithms, and ``tanh`` the
quotient of an exponential minus 1 and plus 1. Both lose every digit near zero: the library is
called for them too, but on GPUs, which need not have it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import relax, te, tirx, topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.broadcast_elements import element
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.framework.targets import on_gpu
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/elementary_functions.py")

_FUNCTIONS = ("acos", "acosh", "asin", "asinh", "atan", "atan2", "cosh", "sinh")
"""Those that TVM computes well in float32 and float64."""

_LOSING_DIGITS = ("atanh", "tanh")
"""Those that it computes by differences that cancel near zero."""


def _of_half_precision(original: Legalization) -> Legalization:
    """``original``, except that float16 is computed in float32."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        known = all(map(tvm_api.has_shape, call.args))
        if tvm_api.dtype_of(call) != "float16" or not known:
            return original(builder, call)
        name = str(call.op.name).rpartition(".")[2]
        function = getattr(tirx, name)

        def compute(*operands: Tensor) -> Tensor:
            shape = list(operands[0].shape)
            for other in operands[1:]:
                shape = list(topi.subtract(operands[0], other).shape)

            def result(*at: PrimExpr) -> PrimExpr:
                wide = (element(each, at, shape).astype("float32") for each in operands)
                return function(*wide).astype("float16")

            return te.compute(shape, result, name=name)

        return builder.call_te(compute, *call.args, primfunc_name_hint=f"tir_{name}")

    return lower


def _from_library(original: Legalization) -> Legalization:
    """``original`` on GPUs, else the C library's function; 16 bits are computed in float32."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        if on_gpu():
            return original(builder, call)
        dtype = tvm_api.dtype_of(call.args[0])
        wide = "float64" if dtype == "float64" else "float32"
        name = str(call.op.name).rpartition(".")[2]
        function = name if dtype == "float64" else f"{name}f"

        def compute(data: Tensor) -> Tensor:
            def computed(*at: PrimExpr) -> PrimExpr:
                argument = data(*at) if dtype == wide else data(*at).astype(wide)
                result = tirx.call_pure_extern(wide, function, argument)
                return result if dtype == wide else result.astype(dtype)

            return te.compute(data.shape, computed, name=name)

        return builder.call_te(compute, call.args[0], primfunc_name_hint=f"tir_{name}")

    return lower


def has_half_precision() -> bool:
    """True if every function of float16 is computed."""
    return all(
        probes.computes(call, arrays, wanted(*arrays))
        for call, arrays, wanted in map(_of_ones, _FUNCTIONS)
    )


def _of_ones(name: str) -> tuple[Call, list[Any], Callable[..., Any]]:
    """The call ``name`` of float16, an operand for each of its arguments, and NumPy's function."""
    operands = 2 if name == "atan2" else 1
    call = probes.one_call(
        getattr(relax.op, name), *[(1,)] * operands, dtypes=("float16",) * operands
    )
    numpy_name = name.replace("a", "arc", 1) if name.startswith("a") else name
    return call, [np.ones(1, "float16")] * operands, getattr(np, numpy_name)


def keeps_digits(name: str) -> bool:
    """True if the function ``name`` of a small number is not 0."""
    function = probes.lowered(probes.one_call(getattr(relax.op, name), (1,)))
    if function is None:
        return False
    small = np.full(1, 2.0**-40, "float32")
    return bool(tvm_api.compiled(function[0])(small, np.zeros(1, "float32"))[0] > 0)


FIX = Fix(
    name="elementary_functions",
    operators=tuple(f"relax.{name}" for name in (*_FUNCTIONS, *_LOSING_DIGITS)),
    fault=(
        "inverse circular and hyperbolic functions of float16 are not computed; atanh and tanh"
        " lose their digits near zero, where they are differences of logarithms or exponentials"
    ),
    issue=None,
    parts=(
        FaultPart("half precision", lambda: not has_half_precision()),
        FaultPart("digits", lambda: not keeps_digits("atanh")),
        FaultPart("digits of tanh", lambda: not keeps_digits("tanh")),
    ),
    attributes=(
        *(OperatorAttribute(f"relax.{name}", LEGALIZE, _of_half_precision) for name in _FUNCTIONS),
        *(OperatorAttribute(f"relax.{name}", LEGALIZE, _from_library) for name in _LOSING_DIGITS),
    ),
    single=tuple(f"relax.{name}" for name in _LOSING_DIGITS),
    after="unsigned_negation",
    patch=(
        *(Wrapping(f"relax.{name}", _of_half_precision) for name in _FUNCTIONS),
        *(Wrapping(f"relax.{name}", _from_library) for name in _LOSING_DIGITS),
    ),
)
