"""The gradient of conv2d, which TVM makes without a look at dilation for the data's size.

The transposed convolution is too small then, and the padding that makes up for it is refused, or
leaves the gradient larger than the data. Where a size is symbolic, Python fails to make a number
of it; along an axis without strides no padding is needed, whatever the size.
"""

from collections.abc import Sequence

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, OperatorAttribute, refuse
from relaxcheck.fixes.framework.patch import Body
from relaxcheck.fixes.lowerings.derivatives.shared import (
    FILE,
    KEY,
    differentiated,
    gradients,
    program,
)
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, PrimExpr

OPERATOR = "relax.nn.conv2d"


def left_over(
    size: PrimExpr, taps: PrimExpr, stride: int, dilation: int, padding: Sequence[int]
) -> PrimExpr:
    """The elements, of ``size``, that no place of a window of ``taps`` elements covers."""
    if stride == 1:
        return tvm_api.integer(0)
    free = size + sum(padding) - dilation * (taps - 1) - 1
    return tvm_api.analyzer().simplify(tvm_api.floormod(free, stride))


def conv2d_grad(
    orig_var: Expr, orig_call: Call, output_grad: Expr, ctx: BlockBuilder
) -> list[Expr]:
    """The gradient of conv2d: a transposed convolution, and one of data and gradient.

    It is for layouts NCHW and OIHW.
    """
    attrs = orig_call.attrs
    for name, wanted in (
        ("data_layout", "NCHW"),
        ("kernel_layout", "OIHW"),
        ("out_layout", "NCHW"),
    ):
        if str(getattr(attrs, name)) != wanted:
            raise refuse("the gradient of relax.nn.conv2d", **{name: str(getattr(attrs, name))})
    data, weight = orig_call.args
    strides, dilation = (
        [int(each) for each in getattr(attrs, name)] for name in ("strides", "dilation")
    )
    padding, groups = [int(each) for each in attrs.padding], int(attrs.groups)
    batch, channels, *sizes = tvm_api.shape_of(data)
    kernel = tvm_api.shape_of(weight)
    rest = [
        left_over(size, taps, stride, step, (padding[at], padding[at + 2]))
        for at, (size, taps, stride, step) in enumerate(
            zip(sizes, kernel[2:], strides, dilation, strict=True)
        )
    ]
    known = [tvm_api.as_int(each) for each in rest]
    if None in known:
        raise refuse("the gradient of relax.nn.conv2d", strides=strides, data=tvm_api.show(sizes))
    data_grad = relax.op.nn.conv2d_transpose(
        output_grad,
        weight,
        strides=strides,
        padding=padding,
        output_padding=known,
        dilation=dilation,
        groups=groups,
        data_layout="NCHW",
        kernel_layout="IOHW",
        out_layout="NCHW",
        out_dtype=attrs.out_dtype,
    )
    if groups != 1:
        inner = tvm_api.floordiv(channels, groups)
        data = relax.op.reshape(data, (batch, groups, inner, *sizes))
        data = relax.op.permute_dims(data, [1, 0, 2, 3, 4])
        data = relax.op.reshape(data, (batch * groups, inner, *sizes))
    weight_grad = relax.op.nn.conv2d(
        data,
        output_grad,
        strides=dilation,
        padding=padding,
        dilation=strides,
        groups=groups,
        data_layout="CNHW",
        kernel_layout="IOHW",
        out_layout="CNHW",
        out_dtype=attrs.out_dtype,
    )
    # The window over what is left over has no element of the kernel.
    taps = kernel[2:]
    weight_grad = relax.op.strided_slice(weight_grad, [2, 3], [0, 0], list(taps))
    return [data_grad, weight_grad]


def _convolved(x: Expr, w: Expr) -> Expr:
    return relax.op.nn.conv2d(x, w, strides=[2, 1], dilation=[2, 1])


def takes_dilation() -> bool:
    """True if the gradient of a dilated convolution with strides has the data's shape."""
    x, w = np.ones((1, 1, 3, 1), "float32"), np.ones((1, 1, 2, 1), "float32")
    made = gradients(program(_convolved, x.shape, w.shape), x, w)
    return made[0].shape == x.shape and bool((made[0].ravel() == [1, 0, 1]).all())


def takes_symbols() -> bool:
    """True if the gradient of a convolution along a symbolic dimension is made."""
    shapes = ((1, 1, tvm_api.shape_var("n"), 2), (1, 1, 1, 1))
    return probes.goes_through(differentiated, program(relax.op.nn.conv2d, *shapes))


FIX = Fix(
    name="conv2d_gradient",
    operators=(OPERATOR,),
    fault=(
        "the gradient of a dilated conv2d in its data is refused, or larger than the data; Gradient"
        " fails on a conv2d over symbolic dimensions"
    ),
    issue=None,
    parts=(
        FaultPart("dilation", lambda: not takes_dilation()),
        FaultPart("symbolic sizes", lambda: not takes_symbols()),
    ),
    attributes=(OperatorAttribute(OPERATOR, KEY, lambda original: conv2d_grad),),
    single=(OPERATOR,),
    after="matmul_gradient",
    patch=(Body(FILE, conv2d_grad),),
)
