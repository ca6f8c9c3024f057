"""Memory of tensors that the branches of a conditional allocate.

StaticPlanBlockMemory plans one storage for tensors of both branches, and puts its allocation into
the branch that comes first. Where the other one runs, the storage is undefined: the process ends.
Here a function with a conditional is left as it was, so that each of its tensors has memory of its
own.
"""

from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.relax.transform import _ffi_api, transform

from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, Rebinding
from relaxcheck.fixes.framework.patch import Body
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions

_ORIGINAL = transform.StaticPlanBlockMemory


def StaticPlanBlockMemory() -> Any:
    """The pass of this name, which leaves functions with conditionals alone."""
    planning = _ffi_api.StaticPlanBlockMemory()

    def run(module: Any, context: Any) -> Any:
        planned = planning(module)
        branching = [
            (variable, function)
            for variable, function in tvm_api_functions.functions(module)
            if _has_branches(function)
        ]
        if branching:
            planned = planned.clone()
        for variable, function in branching:
            planned.update_func(variable, function)
        return planned

    return tvm.transform.module_pass(run, opt_level=0, name="StaticPlanBlockMemory")


def _has_branches(function: Any) -> bool:
    """True if there is a conditional in ``function``."""
    branches: list[Any] = []

    def visit(expr: Any) -> None:
        if isinstance(expr, relax.If):
            branches.append(expr)

    relax.analysis.post_order_visit(function, visit)
    return bool(branches)


def program() -> Any:
    """The negative of the exponential of -x where a condition is false, else another value."""
    builder = relax.BlockBuilder()
    condition, x = probes.inputs([(), (4,)], ("bool", "float32"))
    with builder.function("main", [condition, x]):
        branches = [
            _sequence(builder, x, [relax.op.exp, relax.op.negative, relax.op.exp]),
            _sequence(builder, x, [relax.op.negative, relax.op.exp, relax.op.negative]),
        ]
        builder.emit_func_output(builder.emit(relax.If(condition, *branches)))
    return builder.get()


def _sequence(builder: Any, value: Any, steps: Any) -> Any:
    """The body of a branch that applies ``steps`` to ``value``."""
    builder._begin_binding_block()
    for step in steps:
        value = builder.emit(step(value))
    return builder.normalize(relax.SeqExpr([builder._end_block()], value))


def runs_the_other_branch() -> bool:
    """True if the branch that comes second runs; it may end the process."""
    x = np.array([1, 2, 3, 4], "float32")
    result = probes.run(program(), np.array(False), x)
    return bool(np.allclose(result, -np.exp(-x), rtol=1e-5))


FIX = Fix(
    name="branch_memory",
    operators=(),
    fault=(
        "StaticPlanBlockMemory lets the branches of a conditional share storage that only the first"
        " of them allocates: the process ends where the second one runs"
    ),
    issue=None,
    parts=(FaultPart("branches", lambda: not runs_the_other_branch(), deadly=True),),
    rebindings=lambda: (Rebinding(_ORIGINAL, StaticPlanBlockMemory),),
    after="overwritten_memory",
    patch=(Body("relax/transform/transform.py", StaticPlanBlockMemory),),
)
