"""Inputs of which TVM knows only the rank.

TVM lowers no call on such an input, as the lowered function needs a shape. Here each of its
dimensions gets a symbol, whose value comes from the input at run time, and the types of all that
follows are inferred again.
"""

from typing import Any

import numpy as np
from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, ModulePass
from relaxcheck.fixes.tvm_api import Expr, PrimExpr
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from relaxcheck.fixes.tvm_api.functions import Function, Module
from relaxcheck.fixes.tvm_api.shapes import Type


def _shaped(parameter: Expr) -> Expr:
    """``parameter`` with symbols for unknown dimensions; itself if all are known."""
    name, type_ = tvm_api_shapes.name_of(parameter), tvm_api.type_of(parameter)
    new = with_symbols(type_, name)
    return parameter if new is type_ else relax.Var(name, new)


def with_symbols(type_: Type, name: str) -> Type:
    """``type_`` with symbols for unknown dimensions, named after ``name`` and the axis: ``x_0``."""

    def symbol(path: tuple[int, ...], axis: int) -> PrimExpr:
        return tvm_api.shape_var("_".join(map(str, (name, *path, axis))))

    return tvm_api_shapes.with_shapes(type_, symbol)


@mutator
class _Retyping(PyExprMutator):  # type: ignore[misc]
    """Replaces parameters, and infers the types of what uses them again."""

    def with_parameters(self, function: Function, parameters: list[Expr]) -> Function:
        for old, new in zip(function.params, parameters, strict=True):
            if not new.same_as(old):
                self.set_var_remap(tvm_api_functions.identity_of(old), new)
        new_function = relax.Function(
            parameters, self.visit_expr(function.body), None, bool(function.is_pure)
        )
        return new_function.with_attrs(function.attrs) if function.attrs else new_function


def _run(module: Module, context: Any) -> Module:
    for variable, function in tvm_api_functions.functions(module):
        parameters = [_shaped(parameter) for parameter in function.params]
        if all(new.same_as(old) for new, old in zip(parameters, function.params, strict=True)):
            continue
        retyping = _Retyping(module)
        new = retyping.with_parameters(function, parameters)
        module = retyping.builder_.get()
        module.update_func(module.get_global_var(str(variable.name_hint)), new)
        module = relax.transform.Normalize()(module)
    return module


PASS = tvm_api_functions.module_pass("NameDimensions", _run)


def lowers_unknown_shapes() -> bool:
    """True if a call on an operand of known rank and unknown shape is lowered."""
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.unshaped_type(1, "float32"))
    with builder.function("main", [x]):
        builder.emit_func_output(builder.emit(relax.op.negative(x)))
    try:
        return bool((probes.run(builder.get(), np.ones(2, "float32")) == -1).all())
    except Exception:
        return False


FIX = Fix(
    name="known_rank",
    operators=(),
    fault="calls on an input of known rank and unknown shape are not lowered",
    issue=None,
    parts=(FaultPart("tensors", lambda: not lowers_unknown_shapes()),),
    passes=(ModulePass(PASS),),
    after="empty_reduction",
)
