"""Slices of a stated length, pieces of an axis, and windows that slide along it."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.computing import computed, filled
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.indexing.choosing import from_front
from relaxcheck.fixes.frontends.torch.probing import differs, made_of
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/torch/slicing.py")

Size = PrimExpr | int


def convert_narrow(node: Node) -> Expr:
    """``length`` places of an axis from ``start``, which counts from the end if it is negative."""
    data = node.argument("self")
    dims = tvm_api.shape_of(data)
    axis = operands.axis(node, node.argument("dim"), len(dims))
    return _narrow(node, data, axis, node.argument("start"), node.argument("length"))


def _narrow(node: Node, data: Expr, axis: int, start: Size, length: Size) -> Expr:
    dims = tvm_api.shape_of(data)
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


def convert_pieces(node: Node) -> Any:
    """The pieces of an axis, of stated sizes or of one, or as many as there are to be."""
    data = node.argument("self")
    dims = tvm_api.shape_of(data)
    axis = operands.axis(node, node.argument("dim"), len(dims))
    sizes = _sizes(node, dims[axis], len(node.call.meta["val"]))
    if all(isinstance(size, int) for size in sizes) and tvm_api.as_int(dims[axis]) is not None:
        return node.converted()
    pieces, start = [], tvm_api.integer(0)
    for size in sizes:
        pieces.append(_narrow(node, data, axis, start, size))
        start = start + size
    return relax.Tuple(pieces)


def _sizes(node: Node, whole: PrimExpr, count: int) -> list[Size]:
    """The sizes of the ``count`` pieces of an axis of ``whole`` places."""
    name = node.operator
    if name.startswith("split_with_sizes"):
        return list(node.argument("split_sizes"))
    if name.startswith("split"):
        size = node.argument("split_size")
    else:
        chunks = int(node.argument("chunks"))
        size = tvm_api.floordiv(whole + tvm_api.integer(chunks - 1), chunks)
    return [*[size] * (count - 1), whole - size * (count - 1)]


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
    **dict.fromkeys(("split.Tensor", "split_with_sizes.default", "chunk.default"), convert_pieces),
}


def _lacks_pieces() -> bool:
    """True if TVM does not import the halves of an axis of symbolic size."""
    import torch

    aten, length = torch.ops.aten, tvm_api.shape_var("n")

    def call(graph: Any, data: Any) -> Any:
        size = graph.call_function(aten.sym_size.int, (data, 0))
        pieces = graph.call_function(aten.split_with_sizes.default, (data, [size, size]))
        pieces.meta["val"] = [torch.zeros(2), torch.zeros(2)]
        return pieces

    try:
        made_of(call, [([length * 2], "float32")])
    except Exception:
        # Of any kind: the importer does not convert it.
        return True
    return False


_DATA = np.arange(5, dtype=np.float32)

FIX = Fix(
    name="torch_slices",
    operators=tuple(CONVERSIONS),
    fault=(
        "narrow of PyTorch programs ends at its length; windows of unfold, and pieces of symbolic"
        " sizes, are not imported"
    ),
    issue=None,
    parts=(
        FaultPart("narrow", partial(differs, "narrow.default", _DATA, 0, 1, 3)),
        FaultPart("unfold", partial(differs, "unfold.default", _DATA, 0, 2, 2)),
        FaultPart("pieces", _lacks_pieces),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_sampling",
    patch=patch(CONVERSIONS),
)
