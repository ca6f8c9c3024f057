"""Constants without elements.

An executable that has one can be written to a file, and not be loaded again: reading none of its
bytes is taken for a failure. Here a function that fills nothing stands in the place of each, before
anything else, and again once FoldConstant has made more of them.
"""

from typing import Any

from tvm import relax, topi
from tvm.relax.expr_functor import PyExprMutator, mutator

from fixes import probes_of_shapes as probes
from fixes import tvm_api, tvm_api_functions
from fixes.fix import Fix, ModulePass, Part
from fixes.tvm_api import Expr, Tensor
from fixes.tvm_api_functions import Function, Module


def _is_empty(value: Expr) -> bool:
    return tvm_api_functions.is_constant(value) and 0 in tvm_api.tensor_of(value).shape


@mutator
class _Filling(PyExprMutator):  # type: ignore[misc]
    """Puts calls of functions in the place of constants without elements."""

    def visit_constant_(self, constant: Expr) -> Expr:
        if not _is_empty(constant):
            return constant
        shape = [int(size) for size in tvm_api.tensor_of(constant).shape]
        dtype = tvm_api.dtype_of(constant)

        def nothing() -> Tensor:
            return topi.full(shape, dtype, 0)

        return self.builder_.emit(self.builder_.call_te(nothing, primfunc_name_hint="empty"))

    # A constant is any language's, since 0.27.
    visit_generic_const_ = visit_constant_


def _any_within(function: Function) -> bool:
    found: list[Expr] = []

    def visit(expr: Expr) -> None:
        if _is_empty(expr):
            found.append(expr)

    relax.analysis.post_order_visit(function, visit)
    return bool(found)


def _run(module: Module, context: Any) -> Module:
    for variable, function in tvm_api_functions.functions(module):
        if not _any_within(function):
            continue
        filling = _Filling(module)
        new = filling.visit_expr(function)
        module = filling.builder_.get()
        module.update_func(module.get_global_var(str(variable.name_hint)), new)
        module = relax.transform.Normalize()(module)
    return module


PASS = tvm_api_functions.module_pass("FillEmptyConstants", _run)

FIX = Fix(
    name="empty_constants",
    operators=(),
    fault="an executable that has a constant without elements cannot be loaded from a file",
    issue=None,
    parts=(Part("constants in files", lambda: not probes.loads_empty_constants()),),
    passes=(ModulePass(PASS), ModulePass(PASS, after="FoldConstant")),
)
