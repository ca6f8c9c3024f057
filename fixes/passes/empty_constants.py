"""Constants without elements.

An executable with such a constant can be saved but not loaded: reading none of its bytes counts as
a failure. This pass replaces each by a call of a function that fills nothing. It runs first, and
again after FoldConstant, which may create more.
"""

from typing import Any

import numpy as np
import tvm
from tvm import relax, topi
from tvm.relax.expr_functor import PyExprMutator, mutator

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, ModulePass
from relaxcheck.fixes.tvm_api import Expr, Tensor
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions
from relaxcheck.fixes.tvm_api.functions import Function, Module


def _is_empty(value: Expr) -> bool:
    return tvm_api_functions.is_constant(value) and 0 in tvm_api.tensor_of(value).shape


@mutator
class _Filling(PyExprMutator):  # type: ignore[misc]
    """Replaces constants without elements by calls of functions."""

    def visit_constant_(self, constant: Expr) -> Expr:
        if not _is_empty(constant):
            return constant
        shape = [int(size) for size in tvm_api.tensor_of(constant).shape]
        dtype = tvm_api.dtype_of(constant)

        def nothing() -> Tensor:
            return topi.full(shape, dtype, 0)

        return self.builder_.emit(self.builder_.call_te(nothing, primfunc_name_hint="empty"))

    # Since 0.27 all dialects share constants.
    visit_generic_const_ = visit_constant_


def _any_within(function: Function) -> bool:
    exprs: list[Expr] = []

    def visit(expr: Expr) -> None:
        if _is_empty(expr):
            exprs.append(expr)

    relax.analysis.post_order_visit(function, visit)
    return bool(exprs)


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


def loads_empty_constants() -> bool:
    """True if a module without code that folds to a constant without elements can be loaded."""
    module = probes.program(lambda x: relax.op.zeros((2, 0), "float32"), (1,))
    try:
        return probes.run_fused(module, np.zeros(1, "float32")).shape == (2, 0)
    except tvm.error.InternalError:
        return False


FIX = Fix(
    name="empty_constants",
    operators=(),
    fault="an executable with a constant without elements cannot be loaded from a file",
    issue=None,
    parts=(FaultPart("constants in files", lambda: not loads_empty_constants()),),
    passes=(ModulePass(PASS), ModulePass(PASS, after="FoldConstant")),
    after="fusion",
)
