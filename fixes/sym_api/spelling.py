"""Integer expressions of the running TVM, under one spelling.

The module asks for features, never for version numbers:

* The packages are ``tvm`` and ``tvm.tirx``. TIRx alone has ``tvm_tirx`` and ``tvm_tirx.tirx``.
* Constants are nodes of ``tirx``. TIRx alone has them in ``ir``.
* The dtype of an expression is its type ``ty``, which prints as it. Earlier: an attribute.
"""

from typing import Any

from relaxcheck.fixes.sym_api import root

if not root.has_relax():
    import tvm_tirx as tvm
    from tvm_tirx import tirx
else:
    import tvm
    from tvm import tirx

IntImm: Any = tirx.IntImm if hasattr(tirx, "IntImm") else tvm.ir.IntImm
"""The node of an integer constant."""

# TVM has no type information of its own.
PrimExpr = Any

__all__ = [
    "IntImm",
    "PrimExpr",
    "dtype_of",
    "half_open",
    "integer",
    "name_of",
    "tirx",
    "true",
    "tvm",
    "variables",
    "version",
]


def version() -> str:
    """The version of the running package."""
    return str(tvm.__version__)


def integer(value: int, dtype: str) -> PrimExpr:
    """The constant ``value``."""
    return IntImm(dtype, value)


def true() -> PrimExpr:
    """The condition that always holds."""
    return IntImm("bool", 1)


def dtype_of(expression: PrimExpr) -> str:
    """TVM's name of the dtype of ``expression``."""
    kind = getattr(expression, "ty", None)
    if kind is None:
        kind = expression
    dtype = getattr(kind, "dtype", kind)
    return str(getattr(dtype, "dtype", dtype))


def name_of(variable: PrimExpr) -> str:
    """The name of ``variable``."""
    return str(getattr(variable, "name", ""))


def variables(expression: PrimExpr) -> list[PrimExpr]:
    """The distinct variables in ``expression``, in order."""
    return list(tirx.analysis.undefined_vars(expression))


def half_open(dtype: str, low: int, extent: int) -> Any:
    """The range of ``extent`` integers from ``low``."""
    return tvm.ir.Range.from_min_extent(integer(low, dtype), integer(extent, dtype))
