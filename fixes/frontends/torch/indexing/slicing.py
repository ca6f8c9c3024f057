"""Slices of a stated length, and windows that slide along an axis."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.computing import computed, filled
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.indexing.choosing import from_front
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/torch/slicing.py")


def convert_narrow(node: Node) -> Expr:
    """``length`` places of an axis from ``start``, which counts from the end if it is negative."""
    data = node.argument("self")
    dims = tvm_api.shape_of(data)
    axis = operands.axis(node, node.argument("dim"), len(dims))
    start, length = node.argument("start"), node.argument("length")
    size = tvm_api.as_int(dims[axis])
    if isinstance(start, int) and isinstance(length, int) and (start >= 0 or size is not None):
        first = start if start >= 0 or size is None else start + size
        return node.emit(relax.op.strided_slice(data, [axis], [first], [first + length]))
    places = [tvm_api.integer(each) if isinstance(each, int) else each for each in (start, length)]

    def compute(source: Tensor, sizes: Sequence[PrimExpr]) -> Tensor:
        first, count = sizes
        first = from_front(first, source.shape[axis])
        shape = [*source.shape[:axis], count, *source.shape[axis + 1 :]]
        return filled(
            shape, lambda at: source[(*at[:axis], first + at[axis], *at[axis + 1 :])], "narrow"
        )

    return computed(node, compute, data, places)


def convert_unfold(node: Node) -> Expr:
    """The windows of ``size`` places along an axis, ``step`` apart; their places come last."""
    data = node.argument("self")
    size, step = int(node.argument("size")), int(node.argument("step"))
    rank = operands.rank_of(data)
    axis = operands.axis(node, node.argument("dimension"), rank)
    if not rank:
        # There is one window, of the only element or of none.
        vector = operands.lifted(node, data)
        return node.emit(relax.op.strided_slice(vector, [0], [0], [size]))

    def compute(source: Tensor) -> Tensor:
        count = tvm_api.floordiv(source.shape[axis] - size, step) + 1
        known = tvm_api.as_int(count)
        count = count if known is None else tvm_api.integer(known)
        shape = [*source.shape[:axis], count, *source.shape[axis + 1 :], tvm_api.integer(size)]

        def element(at: Sequence[PrimExpr]) -> PrimExpr:
            place = at[axis] * tvm_api.integer(step) + at[-1]
            return source[(*at[:axis], place, *at[axis + 1 : -1])]

        return filled(shape, element, "windows")

    return computed(node, compute, data)


CONVERSIONS: dict[str, Convert] = {
    "narrow.default": convert_narrow,
    "unfold.default": convert_unfold,
}

_DATA = np.arange(5, dtype=np.float32)

FIX = Fix(
    name="torch_slices",
    operators=tuple(CONVERSIONS),
    fault="narrow of PyTorch programs ends at its length; windows of unfold are not imported",
    issue=None,
    parts=(
        FaultPart("narrow", partial(differs, "narrow.default", _DATA, 0, 1, 3)),
        FaultPart("unfold", partial(differs, "unfold.default", _DATA, 0, 2, 2)),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_sampling",
    patch=patch(CONVERSIONS),
)
