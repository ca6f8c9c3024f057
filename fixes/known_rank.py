"""Inputs of which TVM is told the number of dimensions alone.

No call on such an input is lowered: what computes it would need a shape to be written in. Here each
of its dimensions gets a symbol, whose value the input has at run time, and what follows is typed
again.
"""

from typing import Any

from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator

from fixes import probes_of_shapes as probes
from fixes import tvm_api, tvm_api_functions, tvm_api_shapes
from fixes.fix import Fix, ModulePass, Part
from fixes.tvm_api import Expr, PrimExpr
from fixes.tvm_api_functions import Function, Module
from fixes.tvm_api_shapes import Type


def _shaped(parameter: Expr) -> Expr:
    """``parameter`` with a symbol for each dimension that is not known; itself where all are."""
    name, type_ = tvm_api_shapes.name_of(parameter), tvm_api.type_of(parameter)
    new = with_symbols(type_, name)
    return parameter if new is type_ else relax.Var(name, new)


def with_symbols(type_: Type, name: str) -> Type:
    """``type_`` with symbols for what is not known, called ``name`` and the axis: ``x_0``."""

    def symbol(path: tuple[int, ...], axis: int) -> PrimExpr:
        return tvm_api.shape_var("_".join(map(str, (name, *path, axis))))

    return tvm_api_shapes.with_shapes(type_, symbol)


@mutator
class _Retyping(PyExprMutator):  # type: ignore[misc]
    """Puts new parameters in place of old ones; what is made of them is typed by TVM again."""

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

FIX = Fix(
    name="known_rank",
    operators=(),
    fault="calls on an input of known rank and unknown shape are not lowered",
    issue=None,
    parts=(Part("tensors", lambda: not probes.lowers_unknown_shapes()),),
    passes=(ModulePass(PASS),),
)
