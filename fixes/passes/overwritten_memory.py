"""Memory of tensors that a packed function overwrites and returns.

The result of ``call_inplace_packed`` is an argument of it. RemovePurityChecking makes it a plain
call, from which no later pass can see that: StaticPlanBlockMemory gives the argument's memory to
the next tensor of its size although the result is still used. Here the result is the argument, by
name, before the call becomes a plain one.
"""

from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator
from tvm.relax.transform import _ffi_api, transform

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, Rebinding
from relaxcheck.fixes.framework.patch import Body
from relaxcheck.fixes.tvm_api import calls as tvm_api_calls
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions

_ORIGINAL = transform.RemovePurityChecking

_CALL = "relax.call_inplace_packed"


def RemovePurityChecking() -> Any:
    """The pass of this name, after results that are arguments were named so."""
    removing = _ffi_api.RemovePurityChecking()

    def run(module: Any, context: Any) -> Any:
        return removing(_with_arguments_as_results(module))

    return tvm.transform.module_pass(run, opt_level=0, name="RemovePurityChecking")


def _with_arguments_as_results(module: Any) -> Any:
    """``module`` where each call that overwrites arguments has them as its results."""
    for variable, function in tvm_api_functions.functions(module):
        naming = _Naming(module)
        renamed = naming.visit_expr(function)
        if naming.named:
            module = module.clone()
            module.update_func(variable, renamed)
    return module


@mutator
class _Naming(PyExprMutator):  # type: ignore[misc]
    """Replaces the result of each call by the arguments that it overwrites."""

    def __init__(self, module: Any) -> None:
        super().__init__(module)
        self.named = False

    def visit_call_(self, call: Any) -> Any:
        """The overwritten argument, or a tuple of several results."""
        call = self.visit_expr_post_order(call)
        if getattr(call.op, "name", "") != _CALL:
            return call
        self.named = True
        made = self.builder_.emit(call)
        indices = [int(index) for index in call.attrs.inplace_indices]
        # The function is the first argument of the call.
        results = [
            call.args[1 + index] if index >= 0 else relax.TupleGetItem(made, at)
            for at, index in enumerate(indices)
        ]
        return results[0] if len(results) == 1 else relax.Tuple(results)


def program() -> tvm.IRModule:
    """The difference of an overwritten vector and of a vector that is computed afterwards."""
    builder = relax.BlockBuilder()
    (x,) = probes.inputs([(3,)])
    with builder.function("main", [x]):
        with builder.dataflow():
            doubled = builder.emit(relax.op.add(x, x))
            call = tvm_api_calls.call_inplace_packed(
                "vm.builtin.copy", [doubled], [0], [tvm_api.type_of(x)]
            )
            same = builder.emit(call)
            squared = builder.emit(relax.op.multiply(x, x))
            result = builder.emit_output(relax.op.subtract(same, squared))
        builder.emit_func_output(result)
    return builder.get()


def keeps_results() -> bool:
    """True if a result that is an argument keeps its memory while it is used."""
    array = np.array([1, 3, 5], "float32")
    return bool((probes.run(program(), array) == 2 * array - array * array).all())


FIX = Fix(
    name="overwritten_memory",
    operators=(_CALL,),
    fault=(
        "the memory of an argument that call_inplace_packed overwrites is given to another tensor"
        " while the result, which has the same memory, is still used"
    ),
    issue=None,
    parts=(FaultPart("results that are arguments", lambda: not keeps_results()),),
    rebindings=lambda: (Rebinding(_ORIGINAL, RemovePurityChecking),),
    after="fusion",
    patch=(Body("relax/transform/transform.py", RemovePurityChecking),),
)
