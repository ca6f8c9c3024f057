"""Slices that reverse a symbolic dimension to an end beyond any dimension.

Such an end has no other spelling (-1 is the last element), so exporters write -2147483647 or
similar. TVM types the result as the minimum of that and the dimension: it broadcasts with no other
dimension, and its upper bound makes TVM plan gigabytes of memory. With a longer stride TVM before
0.27 reads beside the data.
"""

from collections.abc import Sequence

from tvm import relax
from tvm.relax.op import _ffi_api
from tvm.relax.utils import convert_to_expr

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, Rebinding
from relaxcheck.fixes.framework.patch import Body
from relaxcheck.fixes.tvm_api import Expr, PrimExpr

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
    """Like TVM's, except that reversing one whole axis becomes flip, and a slice of its result."""
    if strides is not None and len(axes) == len(begin) == len(end) == len(strides) == 1:
        first, last, step = (tvm_api.as_int(bound[0]) for bound in (begin, end, strides))
        far = first == -1 and last is not None and last <= _FAR
        if far and step == -1:
            return relax.op.flip(x, int(axes[0]))
        if far and step is not None and step < -1 and tvm_api.has_shape(x):
            size = tvm_api.shape_of(x)[int(axes[0])]
            x, begin, end, strides = relax.op.flip(x, int(axes[0])), [0], [size], [-step]
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


def slices_to_the_end() -> bool:
    """True if a reversed dimension keeps its size."""
    m = tvm_api.shape_var("m")
    call = probes.one_call(lambda x: relax.op.strided_slice(x, [0], [-1], [1 - 2**31], [-1]), (m,))
    return tvm_api.has_shape(call) and tvm_api.proves_equal(tvm_api.shape_of(call)[0], m)


FIX = Fix(
    name="far_ends",
    operators=("relax.strided_slice",),
    fault=(
        "a symbolic dimension that is reversed to a far end is typed as the minimum of both: TVM"
        " plans gigabytes for it, and it broadcasts with no other dimension"
    ),
    issue=None,
    parts=(FaultPart("backwards", lambda: not slices_to_the_end()),),
    rebindings=lambda: (Rebinding(_ORIGINAL, strided_slice),),
    after="integer_division",
    patch=(Body("relax/op/index.py", strided_slice),),
)
