"""A function of TIR that is called with less freedom than it has is not fused.

FuseTIR puts the dimensions of the call in the place of a function's own, and fails where that is
no renaming: a function over (a, b) called with a tensor of (m, m), of (m, 2*m), or of (2, 3):
"Inconsistent buffers". What is opaque is called as it is.
"""

from collections.abc import Sequence
from typing import Any

from tvm import relax

from fixes import probes_of_shapes as probes
from fixes import tvm_api, tvm_api_functions
from fixes.fix import Fix, ModulePass, Part
from fixes.tvm_api import Expr, PrimExpr, as_int
from fixes.tvm_api_functions import Module
from fixes.tvm_api_shapes import dims_of, fields_of

_PATTERN = "op_pattern"
_OPAQUE = 8
"""As FuseOps counts the kinds of operators."""


def _shapes(call: Expr) -> list[Sequence[PrimExpr] | None]:
    """The dimensions of what ``call`` gives a function and takes of it; None where not known."""
    (result,) = tvm_api_functions.type_arguments(call)
    given = [tvm_api.type_of(one) for one in call.args[1].fields]
    return [dims_of(one) for one in (*given, *(fields_of(result) or [result]))]


def _is_renaming(function: Any, call: Expr) -> bool:
    """Whether the dimensions of ``call`` differ from those of ``function`` in their names alone.

    Dimensions of the function that are expressions are those of the call that it was made for.
    """
    names: dict[PrimExpr, PrimExpr] = {}
    for number, dims in enumerate(_shapes(call)):
        own = tvm_api_functions.buffer_dims(function, number)
        if own is None:
            continue
        if dims is None or len(dims) != len(own):
            return False
        for formal, actual in zip(own, dims, strict=True):
            if tvm_api.is_variable(formal):
                known = names.setdefault(formal, actual)
                if not tvm_api.is_variable(actual) or not known.same_as(actual):
                    return False
            elif as_int(formal) != as_int(actual):
                return False
    found = list(names.values())
    return len(set(found)) == len(found)


def _run(module: Module, context: Any) -> Module:
    general: dict[Any, Any] = {}

    def visit(expr: Expr) -> None:
        if isinstance(expr, relax.Call) and getattr(expr.op, "name", "") == "relax.call_tir":
            variable = expr.args[0]
            function = module[variable]
            if not _is_renaming(function, expr):
                general[variable] = function.with_attr(_PATTERN, _OPAQUE)

    for _, function in tvm_api_functions.functions(module):
        relax.analysis.post_order_visit(function, visit)
    if not general:
        return module
    module = module.clone()
    for variable, function in general.items():
        module.update_func(variable, function)
    return module


PASS = tvm_api_functions.module_pass("LeaveGeneralFunctions", _run)


FIX = Fix(
    name="general_functions",
    operators=(),
    fault=(
        "FuseTIR fails on a function of TIR whose dimensions are variables of its own, where the"
        " call has one symbol for two of them, an expression or a number"
    ),
    issue=None,
    parts=(Part("fused calls", lambda: not probes.fuses_general_functions()),),
    passes=(ModulePass(PASS, after="AnnotateTIROpPattern"),),
)
