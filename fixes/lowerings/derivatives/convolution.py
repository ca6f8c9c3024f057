"""The gradient of conv2d, which TVM makes without a look at dilation for the data's size.

The transposed convolution is too small then, and the padding that makes up for it is refused, or
leaves the gradient larger than the data. Where a size is symbolic, Python fails to make a number
of it.
"""

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import Body
from relaxcheck.fixes.lowerings.derivatives.shared import (
    FILE,
    KEY,
    differentiated,
    program,
    shapes,
)
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, PrimExpr

OPERATOR = "relax.nn.conv2d"


def _left_over(
    size: PrimExpr, taps: PrimExpr, stride: int, dilation: int, padding: int
) -> int | None:
    """The elements, of ``size``, behind the last place of a window; None if not known."""
    if stride == 1:
        return 0
    free = size + padding - dilation * (taps - 1) - 1
    return tvm_api.as_int(tvm_api.analyzer().simplify(tvm_api.floormod(free, stride)))


def conv2d_grad(
    orig_var: Expr, orig_call: Call, output_grad: Expr, ctx: BlockBuilder
) -> list[Expr]:
    """The gradient of conv2d: a transposed convolution, and one of data and gradient.

    It is for the layouts NCHW and OIHW.
    """
    attrs = orig_call.attrs
    layouts = {"data_layout": "NCHW", "kernel_layout": "OIHW", "out_layout": "NCHW"}
    for name, layout in layouts.items():
        assert str(getattr(attrs, name)) == layout, f"only support {layout} {name}"
    data, weight = orig_call.args
    strides, dilation = ([int(n) for n in each] for each in (attrs.strides, attrs.dilation))
    padding, groups = [int(each) for each in attrs.padding], int(attrs.groups)
    batch, channels, *sizes = tvm_api.shape_of(data)
    taps = tvm_api.shape_of(weight)[2:]
    if tvm_api.as_int(batch) == 0:
        # To a reshape, 0 is the size that the dimension has already.
        return [relax.op.zeros_like(data), relax.op.zeros_like(weight)]
    rest = [
        _left_over(size, tap, stride, step, padding[at] + padding[at + 2])
        for at, (size, tap, stride, step) in enumerate(
            zip(sizes, taps, strides, dilation, strict=True)
        )
    ]
    data_grad = relax.op.nn.conv2d_transpose(
        output_grad,
        weight,
        strides=strides,
        padding=padding,
        output_padding=[
            stride - 1 if each is None else each for each, stride in zip(rest, strides, strict=True)
        ],
        dilation=dilation,
        groups=groups,
        data_layout="NCHW",
        kernel_layout="IOHW",
        out_layout="NCHW",
        out_dtype=attrs.out_dtype,
    )
    if None in rest:
        # It may be longer than the data: by zeros, or by what nothing was made of.
        data_grad = relax.op.strided_slice(data_grad, [2, 3], [0, 0], sizes)
    if groups != 1:
        inner = tvm_api.floordiv(channels, groups)
        data = relax.op.reshape(data, relax.ShapeExpr([batch, groups, inner, *sizes]))
        data = relax.op.permute_dims(data, [1, 0, 2, 3, 4])
        data = relax.op.reshape(data, relax.ShapeExpr([batch * groups, inner, *sizes]))
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
    if any(each != 0 for each in rest):
        # What is left over has a place for more elements than the kernel has.
        weight_grad = relax.op.strided_slice(weight_grad, [2, 3], [0, 0], taps)
    return [data_grad, weight_grad]


def _convolved(x: Expr, w: Expr) -> Expr:
    return relax.op.nn.conv2d(x, w, strides=[2, 1], dilation=[2, 1])


def takes_dilation() -> bool:
    """True if the gradient of a dilated convolution with strides has the data's shape."""
    # To compute it takes a transposed convolution, of which dilation may be another fault.
    return shapes(program(_convolved, (1, 1, 3, 1), (1, 1, 2, 1)))[:1] == [[1, 1, 3, 1]]


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
