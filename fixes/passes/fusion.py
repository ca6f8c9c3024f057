"""Fusion of operators over symbolic dimensions, where the result cannot be lowered.

FuseOps may lose the result shape of a fused function if that is an expression of a symbol, and
FuseTIR may fail on the functions of FuseOps. Neither can handle the condition in a dimension of
``strided_slice``, whose bound may count from the end. FuseOps may fuse calls on both sides of a
match_cast, although the cast depends on the one and the other on the cast. The module is as correct
without fusion: if one group is at fault, nothing is fused.
"""

from typing import Any

import tvm
from tvm import relax
from tvm.relax.transform import _ffi_api, transform

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, Rebinding
from relaxcheck.fixes.framework.patch import Body
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions

_ORIGINAL = transform.FuseOps

_CALL_TIR = "relax.call_tir"

_FAULTS = (
    "remap_.count(source)",
    # A match_cast between two calls of one group.
    "A cyclic dependency detected",
    # A condition in a dimension; releases word it differently.
    "Do not have a default for",
    "Cannot find the FInfer",
)
"""Errors of FuseOps and FuseTIR on valid modules."""


def FuseOps(fuse_opt_level: int = -1) -> Any:
    """The pass of this name, which leaves the module alone if FuseTIR cannot lower the result."""
    fusing = _ffi_api.FuseOps(fuse_opt_level)
    lowering = _ffi_api.FuseTIR()

    def run(module: Any, context: Any) -> Any:
        try:
            fused = fusing(module)
            if _loses_variables(fused):
                return module
            lowered = lowering(fused)
        except tvm.error.InternalError as error:
            # Another failing check is another fault.
            if not any(fault in str(error) for fault in _FAULTS):
                raise
            return module
        return module if _loses_shapes(lowered) else fused

    return tvm.transform.module_pass(run, opt_level=0, name="FuseOps")


def _loses_shapes(module: Any) -> bool:
    """True if a call of a lowered function has a result of unknown shape."""
    lost: list[bool] = []

    def visit(expr: Any) -> None:
        if isinstance(expr, relax.Call) and getattr(expr.op, "name", "") == _CALL_TIR:
            for type_ in tvm_api_functions.type_arguments(expr):
                parts = list(getattr(type_, "fields", [type_]))
                lost.extend(getattr(part, "shape", None) is None for part in parts)

    for _, function in tvm_api_functions.functions(module):
        relax.analysis.post_order_visit(function, visit)
    return any(lost)


def _loses_variables(module: Any) -> bool:
    """True if a function uses a variable defined only within another, fused one."""
    return any(
        len(relax.analysis.free_vars(function))
        for _, function in tvm_api_functions.functions(module)
    )


def fuses_repeats() -> bool:
    """True if a repeat is fused with a convolution and an activation."""
    op, m = relax.op, tvm_api.shape_var("m")
    return _is_fused(
        lambda x, w: op.nn.relu(op.nn.conv1d(op.repeat(x, 2, 2), w)), (1, 2, m), (2, 2, 1)
    )


def fuses_slices() -> bool:
    """True if a slice is fused whose bound may be negative and count from the end."""
    m = tvm_api.shape_var("m")
    return _is_fused(
        lambda x: relax.op.nn.relu(relax.op.strided_slice(x, [0], [0], [m - 2], [1])), (m,)
    )


def fuses_around_casts() -> bool:
    """True if calls on a tensor before and after a match_cast to its own shape are fused."""
    m = tvm_api.shape_var("m")
    builder = relax.BlockBuilder()
    (x,) = probes.inputs([(m,)])
    with builder.function("main", [x]):
        with builder.dataflow():
            shared = builder.emit(relax.op.exp(x))
            cast = builder.match_cast(shared, tvm_api.tensor_type((m,), "float32"))
            result = builder.emit_output(relax.op.multiply(cast, shared))
        builder.emit_func_output(result)
    module = relax.transform.LegalizeOps()(builder.get())
    try:
        relax.transform.FuseOps()(relax.transform.AnnotateTIROpPattern()(module))
    except Exception:
        return False
    return True


def _is_fused(make: probes.Make, *shapes: probes.Shape) -> bool:
    try:
        fused_program(make, *shapes)
    except Exception:
        return False
    return True


def fused_program(make: probes.Make, *shapes: probes.Shape) -> Any:
    """The program of tensors of ``shapes``, lowered and fused."""
    module = probes.program(make, *shapes)
    for step in (
        relax.transform.LegalizeOps,
        relax.transform.AnnotateTIROpPattern,
        relax.transform.FuseOps,
        relax.transform.FuseTIR,
    ):
        module = step()(module)
    return module


def _strided() -> Any:
    m = tvm_api.shape_var("m")
    return fused_program(
        lambda x, w: relax.op.tanh(relax.op.nn.conv1d(x, w, strides=5)), (1, 2, m), (3, 2, 4)
    )


FIX = Fix(
    name="fusion",
    operators=(),
    fault=(
        "FuseOps loses shapes over symbols, or fuses calls on both sides of a match_cast, and"
        " FuseTIR fails on some fused functions"
    ),
    issue=None,
    parts=(
        FaultPart("shapes of results", lambda: _loses_shapes(_strided())),
        FaultPart("fused repeats", lambda: not fuses_repeats()),
        FaultPart("conditional dimensions", lambda: not fuses_slices()),
        FaultPart("casts between", lambda: not fuses_around_casts()),
    ),
    rebindings=lambda: (Rebinding(_ORIGINAL, FuseOps),),
    after="folding",
    patch=(Body("relax/transform/transform.py", FuseOps),),
)
