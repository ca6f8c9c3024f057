"""The pass that takes lowered functions for reshapes where they are, which fails on some others.

It asks the analyzer whether what a function reads is in order, and that fails a check of its own
where dimensions are such expressions as ``3*m - 3`` and there are several of them. What the pass is
for is to save a copy: where it fails the module is as right without it. So it is where a tensor has
no element: a 0 in the shape of a reshape means "as in the old one", and the pass fails, or makes
another shape.
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
    """The pass of this name, but the module as it was where it fails, or a tensor is empty."""
    rewriting = _ffi_api.RewriteDataflowReshape()

    def run(module: Any, context: Any) -> Any:
        if _has_empty_tensors(module):
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


def _has_empty_tensors(module: Any) -> bool:
    """Whether a variable of ``module`` is a tensor of which a dimension is a static 0."""
    found: list[bool] = []

    def visit(expr: Any) -> None:
        if isinstance(expr, relax.Var) and tvm_api.has_shape(expr):
            found.append(0 in map(tvm_api.as_int, tvm_api.shape_of(expr)))

    for function in module.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, visit)
    return any(found)


FIX = Fix(
    name="dataflow_reshape",
    operators=(),
    fault=(
        "RewriteDataflowReshape fails on lowered functions of several symbolic dimensions, and on"
        " tensors with a static dimension 0"
    ),
    issue=None,
    parts=(
        Part("expressions of symbols", lambda: not probes.rewrites_expressions()),
        Part("no elements", lambda: not probes.rewrites_nothing()),
        Part("repeats of expressions", lambda: not probes.rewrites_repeats()),
    ),
    rebindings=lambda: (Rebinding(_ORIGINAL, RewriteDataflowReshape),),
)
