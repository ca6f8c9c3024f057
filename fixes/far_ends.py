"""Slices that turn a symbolic dimension around, to an end that is further than any dimension.

As such an end has no other spelling (-1 is the last element), exporters write -2147483647 or the
like. TVM types what is left as the smaller of that and the dimension, which broadcasts with no
other dimension, and has a largest value, for which memory is planned: gigabytes.
"""

from collections.abc import Sequence

from tvm import relax
from tvm.relax.op import _ffi_api
from tvm.relax.utils import convert_to_expr

from fixes import probes_of_lowerings as probes
from fixes import tvm_api
from fixes.fix import Fix, Part, Rebinding
from fixes.tvm_api import Expr, PrimExpr

_ORIGINAL = relax.op.strided_slice

_FAR = 1 - 2**31


def strided_slice(
    x: Expr,
    axes: Sequence[int],
    begin: Sequence[PrimExpr],
    end: Sequence[PrimExpr],
    strides: Sequence[PrimExpr] | None = None,
    assume_inbound: bool = False,
) -> Expr:
    """As TVM's, but that one whole axis is turned around by flip."""
    if strides is not None and len(axes) == len(begin) == len(end) == len(strides) == 1:
        first, last, step = (tvm_api.as_int(one[0]) for one in (begin, end, strides))
        if first == step == -1 and last is not None and last <= _FAR:
            return relax.op.flip(x, int(axes[0]))
    if strides is not None:
        strides = convert_to_expr(strides)
    return _ffi_api.strided_slice(
        x,
        convert_to_expr(axes),
        convert_to_expr(begin),
        convert_to_expr(end),
        strides,
        assume_inbound,
    )


FIX = Fix(
    name="far_ends",
    operators=("relax.strided_slice",),
    fault=(
        "a symbolic dimension that is turned around to an end further than any has the smaller of"
        " the two, for which gigabytes are planned, and which broadcasts with no other dimension"
    ),
    issue=None,
    parts=(Part("backwards", lambda: not probes.slices_to_the_end()),),
    rebindings=lambda: (Rebinding(_ORIGINAL, strided_slice),),
)
