"""One spelling, over the releases, of the calls of functions that are no operators.

* The types of a packed function's results are ``ty_args``. Earlier: ``sinfo_args``.
* A function of TIR takes sizes behind its input tensors. Earlier: behind its outputs, as
  ``tir_vars`` of the call.
"""

import inspect
from collections.abc import Sequence
from typing import Any

from tvm import relax

from relaxcheck.fixes.tvm_api import Call, Expr, PrimExpr

_TYPES = "sinfo_args" if hasattr(relax, "TensorStructInfo") else "ty_args"

_SIZES_LAST = "tir_vars" in inspect.signature(relax.op.call_tir_with_grad).parameters


def call_packed(name: str, arguments: Sequence[Expr], types: Sequence[Any]) -> Call:
    """A call, without side effects, of the packed function ``name`` with results of ``types``."""
    keywords: dict[str, Any] = {_TYPES: list(types)}
    return relax.op.call_pure_packed(name, *arguments, **keywords)


def call_inplace_packed(
    name: str, arguments: Sequence[Expr], indices: Sequence[int], types: Sequence[Any]
) -> Call:
    """A call of the packed function ``name`` whose results overwrite the arguments ``indices``."""
    keywords: dict[str, Any] = {"inplace_indices": list(indices), _TYPES: list(types)}
    return relax.op.call_inplace_packed(name, *arguments, **keywords)


def parameters(inputs: Sequence[Any], sizes: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
    """The parameters of a function of TIR in their order: tensors and ``sizes``."""
    return [*inputs, *outputs, *sizes] if _SIZES_LAST else [*inputs, *sizes, *outputs]


def call_tir_with_grad(
    function: Expr,
    arguments: Sequence[Expr],
    sizes: Sequence[PrimExpr],
    types: Sequence[Any],
    gradient: str,
) -> Call:
    """A call of a function of TIR that has the gradient registered as ``gradient``."""
    call: Any = relax.op.call_tir_with_grad
    if _SIZES_LAST and sizes:
        return call(function, list(arguments), list(types), gradient, tir_vars=list(sizes))
    return call(function, [*arguments, *sizes], list(types), gradient)
