"""Views of the memory of a tensor by strides of their own."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.computing import computed, filled
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/torch/striding.py")


def convert_strided(node: Node) -> Expr:
    """The elements of ``self`` at an offset plus the position times the strides.

    Raises:
        OpNotImplemented: ``self`` is not all of its memory, in order.
    """
    size, stride = list(node.argument("size")), list(node.argument("stride"))
    memory = node.written("self").meta["val"]
    if not all(isinstance(number, int) for number in (*size, *stride, *memory.shape)):
        return node.converted()
    offset = node.argument("storage_offset")
    if not memory.is_contiguous() or memory.storage_offset():
        # Its memory has elements that it has not, or another order.
        raise refuse(node.operator, self_stride=memory.stride())
    first = 0 if offset is None else int(offset)
    last = first + sum((extent - 1) * step for extent, step in zip(size, stride, strict=True))
    if 0 not in size and last >= memory.numel():
        raise refuse(node.operator, size=size, stride=stride, storage_offset=first)
    flat = operands.reshaped(node, node.argument("self"), [memory.numel()])
    return _picked(node, flat, size, stride, first)


def _picked(node: Node, flat: Expr, size: Sequence[int], stride: Sequence[int], first: int) -> Expr:
    def compute(source: Tensor) -> Tensor:
        def element(at: Sequence[PrimExpr]) -> PrimExpr:
            place: PrimExpr = tvm_api.integer(first)
            for position, step in zip(at, stride, strict=True):
                place = place + position * step
            return source(place)

        return filled([tvm_api.integer(extent) for extent in size], element, "strided")

    return computed(node, compute, flat)


CONVERSIONS: dict[str, Convert] = {"as_strided.default": convert_strided}

_DATA: Any = np.arange(12, dtype=np.float32).reshape(3, 4)

FIX = Fix(
    name="torch_striding",
    operators=tuple(CONVERSIONS),
    fault="views of PyTorch programs by strides and an offset of their own are refused",
    issue=None,
    parts=(
        FaultPart("strides", partial(differs, "as_strided.default", _DATA, [2, 3], [1, 3])),
        FaultPart("offset", partial(differs, "as_strided.default", _DATA, [2, 3], [3, 1], 2)),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_dimensions",
    patch=patch(CONVERSIONS),
)
