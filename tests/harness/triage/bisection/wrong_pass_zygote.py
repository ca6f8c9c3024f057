"""A zygote in whose TVM a pass swaps the arguments of every lowered call.

Which pass that is depends on the dtype of the program's first input. float32: one of its own,
``SwapArguments``, that runs after LegalizeOps. float16: LegalizeOps itself. float64: the later
CallTIRRewrite, which nothing can do without. int32: one that ends the process, ``Abort``. uint8:
one that drops the lowered functions that are called, ``Drop``.
"""

import os
from collections.abc import Callable
from typing import Any

import tvm
from tvm import relax

from relaxcheck.fixes import tvm_api

Module = Any


@relax.expr_functor.mutator
class _Swap(relax.PyExprMutator):
    def visit_call_(self, call: Any) -> Any:
        if call.op != tvm.ir.Op.get("relax.call_tir"):
            return call
        function, arguments = call.args
        swapped_fields = relax.Tuple(arguments.fields[::-1])
        return relax.call_tir(function, swapped_fields, tvm_api.type_of(call))


def swapped(module: Module) -> Module:
    """``module`` whose lowered calls have their arguments the wrong way round."""
    mutator = _Swap(module)
    for variable, function in module.functions.items():
        if isinstance(function, relax.Function):
            mutator.builder_.update_func(variable, mutator.visit_expr(function))
    return mutator.builder_.get()


def dropped(module: Module) -> Module:
    """``module`` without its lowered functions."""
    kept = {
        variable: function
        for variable, function in module.functions.items()
        if isinstance(function, relax.Function)
    }
    return tvm.IRModule(kept, attrs=module.attrs)


def dtype_of(module: Module) -> str:
    """The dtype of the first argument of ``main``."""
    return tvm_api.dtype_of(module["main"].params[0])


def plant(dtype: str, name: str, after: Any, change: Callable[[Module], Module]) -> Any:
    """A pass ``name``: ``after``, if there is one, then ``change`` for programs of ``dtype``."""

    def run(module: Module, context: Any) -> Module:
        module = after(module) if after is not None else module
        return change(module) if dtype == dtype_of(module) else module

    return tvm.transform.module_pass(run, opt_level=0, name=name)


def sow() -> None:
    """Put the wrong passes into TVM."""
    legalize, rewrite = relax.transform.LegalizeOps, relax.transform.CallTIRRewrite

    def legalize_and_more(*arguments: Any, **options: Any) -> Any:
        return tvm.transform.Sequential(
            [
                plant("float16", "LegalizeOps", legalize(*arguments, **options), swapped),
                plant("float32", "SwapArguments", None, swapped),
                plant("uint8", "Drop", None, dropped),
                plant("int32", "Abort", None, lambda module: os.abort()),
            ]
        )

    def swap_and_rewrite() -> Any:
        def run(module: Module, context: Any) -> Module:
            return rewrite()(swapped(module) if dtype_of(module) == "float64" else module)

        return tvm.transform.module_pass(run, opt_level=0, name="CallTIRRewrite")

    relax.transform.LegalizeOps = legalize_and_more
    relax.transform.CallTIRRewrite = swap_and_rewrite


if __name__ == "__main__":
    from relaxcheck.harness.workers import zygote

    sow()
    zygote.main()
