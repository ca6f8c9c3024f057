"""TIR functions that are more general than their call are not fused.

FuseTIR substitutes the dimensions of the call for those of the function, and fails unless that is a
renaming: a function over (a, b), called with a tensor of (m, m), (m, 2*m) or (2, 3), gives
"Inconsistent buffers". This pass marks such functions opaque, so that they are called as they are.
"""

from collections.abc import Sequence
from typing import Any

import tvm
from tvm import relax, te

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, ModulePass
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, as_int
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions
from relaxcheck.fixes.tvm_api.functions import Module
from relaxcheck.fixes.tvm_api.shapes import dims_of, fields_of

_PATTERN = "op_pattern"
_OPAQUE = 8
"""FuseOps' number for opaque functions."""


def _shapes(call: Expr) -> list[Sequence[PrimExpr] | None]:
    """The dimensions of the arguments and results of ``call``; None where unknown."""
    (result,) = tvm_api_functions.type_arguments(call)
    types = [tvm_api.type_of(field) for field in call.args[1].fields]
    return [dims_of(type_) for type_ in (*types, *(fields_of(result) or [result]))]


def _is_renaming(function: Any, call: Expr) -> bool:
    """True if the dimensions of ``call`` and ``function`` differ only in their names.

    Dimensions of the function that are expressions come from the call that it was made for.
    """
    names: dict[PrimExpr, PrimExpr] = {}
    for number, dims in enumerate(_shapes(call)):
        own = tvm_api_functions.buffer_dims(function, number)
        if own is None or dims is None or len(dims) != len(own):
            return False
        for formal, actual in zip(own, dims, strict=True):
            if tvm_api.is_variable(formal):
                known = names.setdefault(formal, actual)
                if not tvm_api.is_variable(actual) or not known.same_as(actual):
                    return False
            elif as_int(formal) != as_int(actual):
                return False
    renamed = list(names.values())
    return len(set(renamed)) == len(renamed)


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


def fuses_general_functions() -> bool:
    """True if a function over two dimensions is fused where both are the same."""
    m, a, b = map(tvm_api.shape_var, "mab")
    tensor = te.placeholder((a, b), "float32", name="tensor")
    result = te.compute((a, b), lambda i, j: tensor[i, j] + 1)
    lowered = te.create_prim_func([tensor, result]).without_attr("global_symbol")
    builder = relax.BlockBuilder()
    kind = tvm_api.tensor_type((m, m), "float32")
    x = relax.Var("x", kind)
    with builder.function("main", [x]):
        with builder.dataflow():
            function = builder.add_func(lowered, "function")
            before = builder.emit(relax.op.negative(x))
            called = builder.emit(relax.op.call_tir(function, [before], kind))
            output = builder.emit_output(called)
        builder.emit_func_output(output)
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    try:
        probes.PIPELINE(target)(builder.get())
    except Exception:
        return False
    return True


FIX = Fix(
    name="general_functions",
    operators=(),
    fault=(
        "FuseTIR fails on a TIR function over variables of its own if the call gives two of them"
        " the same symbol, or an expression or number"
    ),
    issue=None,
    parts=(FaultPart("fused calls", lambda: not fuses_general_functions()),),
    passes=(ModulePass(PASS, after="AnnotateTIROpPattern"),),
    after="derived_shapes",
)
