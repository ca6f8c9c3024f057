"""Functions of one operand, of integers and bools too, and choices between two of any dtypes."""

from collections.abc import Callable
from functools import partial

import numpy as np
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.elements import widely
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr, PrimExpr

UPSTREAM = NewFile("relax/frontend/torch/functions.py")

_RELAX: dict[str, Callable[[Expr], Expr]] = {
    "acos": relax.op.acos,
    "acosh": relax.op.acosh,
    "asin": relax.op.asin,
    "asinh": relax.op.asinh,
    "atan": relax.op.atan,
    "atanh": relax.op.atanh,
    "cos": relax.op.cos,
    "cosh": relax.op.cosh,
    "erf": relax.op.erf,
    "exp": relax.op.exp,
    "log": relax.op.log,
    "rsqrt": relax.op.rsqrt,
    "sigmoid": relax.op.sigmoid,
    "sin": relax.op.sin,
    "sinh": relax.op.sinh,
    "sqrt": relax.op.sqrt,
    "tan": relax.op.tan,
    "tanh": relax.op.tanh,
}
"""Functions of floats that Relax has; integers become floats first."""


def _less_one(element: PrimExpr) -> PrimExpr:
    """``exp(element) - 1``, near 0 as ``2 exp(x / 2) sinh(x / 2)``, which keeps its digits."""
    dtype = tvm_api.dtype_of(element)
    half, one, two = (tirx.const(value, dtype) for value in (0.5, 1.0, 2.0))
    near = tirx.all(element > -one, element < one)
    inside = tirx.Select(near, element, tirx.const(0, dtype)) * half
    return tirx.Select(near, two * tirx.exp(inside) * tirx.sinh(inside), tirx.exp(element) - one)


def _inverse(element: PrimExpr) -> PrimExpr:
    return tirx.const(1, tvm_api.dtype_of(element)) / element


_TIR: dict[str, Callable[[PrimExpr], PrimExpr]] = {
    "exp2": tirx.exp2,
    "expm1": _less_one,
    "log10": tirx.log10,
    "log1p": tirx.log1p,
    "log2": tirx.log2,
    "reciprocal": _inverse,
}
"""Functions of floats that Relax lacks."""

_WHOLE: dict[str, Callable[[Expr], Expr]] = {
    "ceil": relax.op.ceil,
    "floor": relax.op.floor,
    "trunc": relax.op.trunc,
}
"""Functions that leave integers as they are."""

_KINDS: dict[str, Callable[[Expr], Expr]] = {
    "isfinite": relax.op.isfinite,
    "isinf": relax.op.isinf,
    "isnan": relax.op.isnan,
}
"""Properties that floats alone may have."""


def convert_function(node: Node) -> Expr:
    """A function of each element, of integers too."""
    name, data = node.operator.partition(".")[0].strip("_"), node.argument("self")
    dtype = tvm_api.dtype_of(data)
    floats = "float" in dtype
    if name in _KINDS:
        if floats:
            # TVM has no such properties of bfloat16.
            wide = operands.cast(node, data, operands.inner_dtype(dtype))
            return node.emit(_KINDS[name](wide))
        shape = relax.ShapeExpr(tvm_api.shape_of(data))
        return node.emit(relax.op.full(shape, operands.number(name == "isfinite", "bool")))
    if name in _WHOLE:
        return node.emit(_WHOLE[name](data)) if floats else data
    value = operands.cast(node, data, node.dtype)
    if name in _TIR:
        return widely(node, node.dtype, _TIR[name], value)
    return node.emit(_RELAX[name](value))


def convert_choice(node: Node) -> Expr:
    """``self`` where the condition holds, else ``other``, in the dtype that both promote to."""
    both = (operands.tensor(node, node.argument(name), node.dtype) for name in ("self", "other"))
    condition = operands.cast(node, node.argument("condition"), "bool")
    return node.emit(relax.op.where(condition, *both))


CONVERSIONS: dict[str, Convert] = {
    **dict.fromkeys(
        [f"{name}.default" for name in (*_RELAX, *_TIR, *_WHOLE, *_KINDS)], convert_function
    ),
    **dict.fromkeys(
        ("where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar"), convert_choice
    ),
}

_FLAGS = np.array([True, False])

FIX = Fix(
    name="torch_functions",
    operators=tuple(CONVERSIONS),
    fault="functions of integers, and choices of two dtypes, fail in PyTorch programs",
    issue=None,
    parts=(
        FaultPart("integers", partial(differs, "exp.default", np.array([1, 2]))),
        FaultPart("reciprocals", partial(differs, "reciprocal.default", np.array([1, 2]))),
        FaultPart(
            "choices",
            partial(differs, "where.self", _FLAGS, np.array([1, 2]), np.array([0.5, 1])),
        ),
        FaultPart("missing", partial(differs, "exp2.default", np.array([1.0, 2]))),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_putting",
    patch=patch(CONVERSIONS),
)
