"""Adaptive pooling with windows that vary in length along one axis but not along another.

TVM splits the sum into two loops, the inner one over the axes with varying windows, and may start
the sum anew at each step of the outer loop: the mean of 7 by 7 elements in 5 by 1 windows then
comes from the last column alone. Reducing one axis after the other gives each sum a single loop.
"""

from collections.abc import Sequence

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/adaptive_pooling.py")

OPERATORS = tuple(f"relax.nn.adaptive_avg_pool{rank}d" for rank in (2, 3))


def _by_axes(original: Legalization) -> Legalization:
    """``original``, except for means over windows that do not all span their axis."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        layout = str(call.attrs.layout)
        axes = [sign for sign in layout if sign.isalpha()]
        if str(call.attrs.out_layout) != layout or {"d", "h", "w"} & set(axes):
            return original(builder, call)
        spatial = [axis for axis, letter in enumerate(axes) if letter in "DHW"]
        shape = tvm_api.shape_of(call)
        if all(tvm_api.as_int(shape[axis]) == 1 for axis in spatial):
            return original(builder, call)

        def compute(data: Tensor, sizes: Sequence[PrimExpr]) -> Tensor:
            return _means(data, spatial, sizes)

        name = str(call.op.name).rpartition(".")[2]
        sizes = [shape[axis] for axis in spatial]
        return builder.call_te(compute, call.args[0], sizes, primfunc_name_hint=name)

    return lower


def _means(data: Tensor, axes: Sequence[int], sizes: Sequence[PrimExpr]) -> Tensor:
    """The means of ``data`` in ``sizes`` windows along ``axes``."""
    total = data
    for axis, size in zip(axes, sizes, strict=True):
        total = _sums(total, axis, size)

    def mean(*at: PrimExpr) -> PrimExpr:
        count = tirx.const(1, tvm_api.dtype_of(data))
        for axis, size in zip(axes, sizes, strict=True):
            first, end = _window(at[axis], data.shape[axis], size)
            count = count * (end - first).astype(tvm_api.dtype_of(data))
        return tirx.div(total[at], count)

    return te.compute(total.shape, mean, name="adaptive_pool_avg")


def _sums(data: Tensor, axis: int, size: PrimExpr) -> Tensor:
    """The sums of ``data`` in ``size`` windows along ``axis``."""
    length = data.shape[axis]

    def total(*at: PrimExpr) -> PrimExpr:
        first, end = _window(at[axis], length, size)
        step = te.reduce_axis((0, end - first), name="step")
        return te.sum(data[(*at[:axis], first + step, *at[axis + 1 :])], axis=step)

    return te.compute((*data.shape[:axis], size, *data.shape[axis + 1 :]), total, name="window_sum")


def _window(number: PrimExpr, length: PrimExpr, size: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
    """The first element of window ``number`` of ``size`` over ``length``, and the one after its
    last.

    ``floor(number*length/size)`` and ``ceil((number + 1)*length/size)``, as in PyTorch.
    """
    first = tvm_api.floordiv(number * length, size)
    return first, tvm_api.floordiv((number + 1) * length + size - 1, size)


def pools_windows_of_two_kinds() -> bool:
    """True if the mean of 3 rows in 2 windows, over both columns, uses all elements."""
    call = probes.one_call(lambda x: relax.op.nn.adaptive_avg_pool2d(x, (2, 1)), (1, 1, 3, 2))
    array = np.arange(6, dtype="float32").reshape(1, 1, 3, 2)
    return probes.computes(call, [array], np.array([1.5, 3.5]).reshape(1, 1, 2, 1))


FIX = Fix(
    name="adaptive_pooling",
    operators=OPERATORS,
    fault=(
        "if windows vary in length along one axis and not along another, the mean uses only a part"
        " of each window"
    ),
    issue=None,
    parts=(FaultPart("windows of two kinds", lambda: not pools_windows_of_two_kinds()),),
    attributes=tuple(OperatorAttribute(name, LEGALIZE, _by_axes) for name in OPERATORS),
    after="resize",
    patch=tuple(Wrapping(name, _by_axes) for name in OPERATORS),
)
