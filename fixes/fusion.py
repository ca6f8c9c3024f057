"""Fusion of operators over symbolic dimensions, where what it makes cannot be lowered.

FuseOps may lose the shape that a function of several operators returns, where that is an expression
of a symbol, and FuseTIR may fail on the functions that it is given. Neither knows what to do with
the condition in a dimension of ``strided_slice``, whose bound may count from the end. What stands
before and after a match_cast may be fused though the match_cast is made of the one and the other of
the match_cast. The module is as right without fusion: where one of its groups is at fault, none is
made.
"""

from typing import Any

import tvm
from tvm import relax
from tvm.relax.transform import _ffi_api, transform

from fixes import probes_of_passes as probes
from fixes import tvm_api, tvm_api_functions
from fixes.fix import Fix, Part, Rebinding

_ORIGINAL = transform.FuseOps

_CALL_TIR = "relax.call_tir"

_FAULTS = (
    "remap_.count(source)",
    # Of a match_cast that stands between two calls of what it is made of.
    "A cyclic dependency detected",
    # Of a condition in a dimension, as releases say it.
    "Do not have a default for",
    "Cannot find the FInfer",
)
"""What FuseOps and FuseTIR say where they fail on what is in order."""


def FuseOps(fuse_opt_level: int = -1) -> Any:
    """The pass of this name, but the module as it was where FuseTIR cannot lower the result."""
    fusing = _ffi_api.FuseOps(fuse_opt_level)
    lowering = _ffi_api.FuseTIR()

    def run(module: Any, context: Any) -> Any:
        try:
            fused = fusing(module)
            if _loses_variables(fused):
                return module
            lowered = lowering(fused)
        except tvm.error.InternalError as error:
            # Another check that fails is another fault.
            if not any(fault in str(error) for fault in _FAULTS):
                raise
            return module
        return module if _loses_shapes(lowered) else fused

    return tvm.transform.module_pass(run, opt_level=0, name="FuseOps")


def _loses_shapes(module: Any) -> bool:
    """Whether a lowered function is called for a tensor of unknown shape."""
    found: list[bool] = []

    def visit(expr: Any) -> None:
        if isinstance(expr, relax.Call) and getattr(expr.op, "name", "") == _CALL_TIR:
            for type_ in tvm_api_functions.type_arguments(expr):
                parts = list(getattr(type_, "fields", [type_]))
                found.extend(getattr(part, "shape", None) is None for part in parts)

    for _, function in tvm_api_functions.functions(module):
        relax.analysis.post_order_visit(function, visit)
    return any(found)


def _loses_variables(module: Any) -> bool:
    """Whether a function uses what it does not define: it is in a function that was fused."""
    return any(
        len(relax.analysis.free_vars(function))
        for _, function in tvm_api_functions.functions(module)
    )


def _strided() -> Any:
    m = tvm_api.shape_var("m")
    return probes.fused(
        lambda x, w: relax.op.tanh(relax.op.nn.conv1d(x, w, strides=5)), (1, 2, m), (3, 2, 4)
    )


FIX = Fix(
    name="fusion",
    operators=(),
    fault=(
        "FuseOps loses shapes over symbols, or takes what stands around a match_cast for one, and"
        " FuseTIR fails on some of what it fuses"
    ),
    issue=None,
    parts=(
        Part("shapes of results", lambda: _loses_shapes(_strided())),
        Part("fused repeats", lambda: not probes.fuses_repeats()),
        Part("conditional dimensions", lambda: not probes.fuses_slices()),
        Part("casts between", lambda: not probes.fuses_around_casts()),
    ),
    rebindings=lambda: (Rebinding(_ORIGINAL, FuseOps),),
)
