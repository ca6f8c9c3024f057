"""Kernels take no view that begins inside of its tensor.

A compiled kernel demands that its arguments begin at offset 0, and fails otherwise when it runs.
``memory.ensure_zero_offset`` makes a copy of such a view, but nothing calls it. Here each view
with an offset is followed by such a copy.
"""

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Override
from relaxcheck.fixes.lowerings.layouts.view_bounds import number_of
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization

UPSTREAM = NewFile("relax/transform/legalize_ops/view_copies.py")

OPERATOR = "relax.memory.view"
_LOWER = "FLowerBuiltin"
"""The operator attribute that holds the function to turn a call into one of the runtime."""

_OFFSET = 3
"""The number of the argument that is the offset."""


def copying(original: Legalization) -> Legalization:
    """``original``, which calls the runtime, with a copy behind each view at an offset."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        view = original(builder, call)
        offset = call.args[_OFFSET]
        if isinstance(offset, relax.Tuple) or number_of(offset) == 0:
            # Without an offset, or at 0.
            return view
        copy = relax.ExternFunc("vm.builtin.ensure_zero_offset")
        return relax.Call(copy, [builder.emit(view)], None, [tvm_api.type_of(call)])

    return lower


def takes_views() -> bool:
    """True if a kernel takes a view of the second of two numbers."""

    def make(x: Expr) -> Expr:
        return relax.op.negative(relax.op.memory.view(x, (1,), relative_byte_offset=4))

    try:
        result = probes.run(probes.program(make, (2,)), np.array([1, 2], "float32"))
    except Exception:
        return False
    return bool((result == -2).all())


FIX = Fix(
    name="view_copies",
    operators=(OPERATOR,),
    fault="a kernel fails when it runs on a view that begins inside of its tensor",
    issue=None,
    parts=(FaultPart("kernels", lambda: not takes_views()),),
    attributes=(OperatorAttribute(OPERATOR, _LOWER, copying),),
    after="view_bounds",
    patch=(Override((OPERATOR,), _LOWER, copying, wraps=True),),
)
