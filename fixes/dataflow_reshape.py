"""The pass that takes lowered functions for reshapes where they are, which fails on some others.

It asks the analyzer whether what a function reads is in order, and that fails a check of its own
where dimensions are such expressions as ``3*m - 3`` and there are several of them. Of a tensor with
a static dimension 0 it makes a reshape whose 0 means "as in the argument", which fails or is of
another shape. What the pass is for is to save a copy: the module is as right without it.
"""

from typing import Any

import tvm
from tvm import relax
from tvm.relax.transform import _ffi_api, transform

from fixes import probes_of_lowerings as probes
from fixes import tvm_api
from fixes.fix import Fix, Part, Rebinding

_ORIGINAL = transform.RewriteDataflowReshape


def RewriteDataflowReshape() -> Any:
    """The pass of this name, but the module as it was where the analyzer fails that check.

    Or where a lowered function gives a tensor without elements.
    """
    rewriting = _ffi_api.RewriteDataflowReshape()

    def run(module: Any, context: Any) -> Any:
        if _has_empty(module):
            return module
        try:
            return rewriting(module)
        except tvm.error.InternalError as error:
            # Another check that fails is another fault.
            if "CanProveDivisible" not in str(error):
                raise
            return module

    name = "RewriteDataflowReshape"
    return tvm.transform.module_pass(run, opt_level=0, name=name)


def _has_empty(module: Any) -> bool:
    """Whether a call gives a tensor with a static dimension 0."""
    found: list[int | None] = []

    def visit(expr: Any) -> None:
        if isinstance(expr, relax.Call):
            shape = getattr(tvm_api.type_of(expr), "shape", None)
            found.extend(map(tvm_api.as_int, getattr(shape, "values", [])))

    for function in module.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, visit)
    return 0 in found


FIX = Fix(
    name="dataflow_reshape",
    operators=(),
    fault=(
        "RewriteDataflowReshape fails on lowered functions of several symbolic dimensions, and on"
        " those of tensors with a static dimension 0"
    ),
    issue=None,
    parts=(
        Part("expressions of symbols", lambda: not probes.rewrites_expressions()),
        Part("no elements", lambda: not probes.rewrites_nothing()),
    ),
    rebindings=lambda: (Rebinding(_ORIGINAL, RewriteDataflowReshape),),
)
