"""RewriteDataflowReshape, which replaces lowered functions that are reshapes, and fails on others.

It asks the analyzer about the order in which a function reads. Several dimensions that are
expressions such as ``3*m - 3`` make one of the analyzer's own checks fail. The pass only saves a
copy: where it fails, the module is as correct without it. The same holds for tensors without
elements: a 0 in the shape of a reshape means "as in the old one", and the pass fails or produces
another shape.
"""

from typing import Any

import tvm
from tvm import relax
from tvm.relax.transform import _ffi_api, transform

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, Rebinding
from relaxcheck.fixes.framework.patch import Body

_ORIGINAL = transform.RewriteDataflowReshape


def RewriteDataflowReshape() -> Any:
    """The pass of this name, which leaves the module alone if it fails or a tensor is empty."""
    rewriting = _ffi_api.RewriteDataflowReshape()

    def run(module: Any, context: Any) -> Any:
        if _has_empty_tensors(module):
            return module
        try:
            return rewriting(module)
        except tvm.error.InternalError as error:
            # Another failing check is another fault.
            if "CanProveDivisible" not in str(error):
                raise
            return module

    name = "RewriteDataflowReshape"
    return tvm.transform.module_pass(run, opt_level=0, name=name)


def _has_empty_tensors(module: Any) -> bool:
    """True if a variable of ``module`` is a tensor with a static dimension 0."""
    seen: list[bool] = []

    def visit(expr: Any) -> None:
        if isinstance(expr, relax.Var) and tvm_api.has_shape(expr):
            seen.append(0 in map(tvm_api.as_int, tvm_api.shape_of(expr)))

    for function in module.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, visit)
    return any(seen)


def rewrites_expressions() -> bool:
    """True if the pass accepts a reshape over dimensions that are expressions."""
    m = tvm_api.shape_var("m")
    module = probes.program(
        lambda x, y: relax.op.reshape(y, (2, 4, 3 * m - 3)), (m,), (2, 4, m - 1, 3)
    )
    return _is_rewritten(module)


def rewrites_repeats() -> bool:
    """True if the pass accepts a repeat over a dimension that is an expression."""
    m = tvm_api.shape_var("m")
    return _is_rewritten(
        probes.program(lambda x, y: relax.op.repeat(y, 2, 1), (m,), (4, 2 * m + 1))
    )


def rewrites_nothing() -> bool:
    """True if the pass accepts added and removed axes of a tensor without elements."""
    return _is_rewritten(
        probes.program(lambda x: relax.op.expand_dims(relax.op.nn.relu(x), 0), (3, 0))
    ) and _is_rewritten(
        probes.program(lambda x: relax.op.squeeze(relax.op.nn.relu(x), 0), (1, 0, 3))
    )


def _is_rewritten(module: Any) -> bool:
    lowered = relax.transform.LegalizeOps()(module)
    return probes.goes_through(relax.transform.RewriteDataflowReshape(), lowered)


FIX = Fix(
    name="dataflow_reshape",
    operators=(),
    fault=(
        "RewriteDataflowReshape fails on lowered functions over several symbolic dimensions, and"
        " on tensors with a static dimension 0"
    ),
    issue=None,
    parts=(
        FaultPart("expressions of symbols", lambda: not rewrites_expressions()),
        FaultPart("no elements", lambda: not rewrites_nothing()),
        FaultPart("repeats of expressions", lambda: not rewrites_repeats()),
    ),
    rebindings=lambda: (Rebinding(_ORIGINAL, RewriteDataflowReshape),),
    after="symbolic_slices",
    patch=(Body("relax/transform/transform.py", RewriteDataflowReshape),),
)
