"""Padding in every mode: by a value, mirrored, by the nearest element, around the axis."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from tvm import te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.computing import bounded, computed, filled, within
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes

UPSTREAM = NewFile("relax/frontend/torch/padding.py")

_Place = Callable[[PrimExpr, PrimExpr], PrimExpr]


def _mirrored(index: PrimExpr, size: PrimExpr) -> PrimExpr:
    """The place of ``index`` in an axis that its ends reflect, without repeating these."""
    last = size - tvm_api.integer(1)
    return last - tirx.abs(last - tirx.abs(index))


def _nearest(index: PrimExpr, size: PrimExpr) -> PrimExpr:
    return index


def _around(index: PrimExpr, size: PrimExpr) -> PrimExpr:
    return tvm_api.floormod(index, tirx.max(size, tvm_api.integer(1)))


_PLACES: dict[str, _Place] = {
    "reflect": _mirrored,
    "replicate": _nearest,
    "circular": _around,
}
"""The place of the element at an index, which may lie outside, of an axis of a size."""


def convert_pad(node: Node) -> Expr:
    """``self`` with elements around it, or without some at its ends where amounts are negative.

    The amounts are in pairs, those of the last axis first.

    Raises:
        ValueError: there are more pairs than axes, or an odd number of amounts.
    """
    data, amounts = node.argument("self"), _amounts(node)
    dtype, rank = tvm_api.dtype_of(data), operands.rank_of(data)
    if len(amounts) % 2 or len(amounts) > 2 * rank:
        raise invalid(node.operator, f"there are {rank} axes, with two each", pad=len(amounts))
    if not rank:
        return data
    mode = _mode(node)
    tensors = [data]
    if mode == "constant":
        tensors.append(operands.tensor(node, _value(node), dtype))
    numbers = [tvm_api.integer(amount) if isinstance(amount, int) else amount for amount in amounts]

    def compute(sources: Sequence[Tensor], both: Sequence[PrimExpr]) -> Tensor:
        source = sources[0]
        before: list[PrimExpr] = [tvm_api.integer(0)] * rank
        shape = list(source.shape)
        for number in range(len(both) // 2):
            axis = rank - 1 - number
            before[axis] = both[2 * number]
            shape[axis] = _plain(shape[axis] + both[2 * number] + both[2 * number + 1])

        def element(at: Sequence[PrimExpr]) -> PrimExpr:
            inner = [index - start for index, start in zip(at, before, strict=True)]
            pairs = list(zip(inner, source.shape, strict=True))
            if mode != "constant":
                place = _PLACES[mode]
                return source[tuple(bounded(place(*pair), pair[1]) for pair in pairs)]
            inside = tvm_api_shapes.all_of([within(*pair) for pair in pairs])
            return te.if_then_else(inside, source[tuple(inner)], sources[1]())

        return filled(shape, element, "padded")

    return computed(node, compute, tensors, numbers)


def _amounts(node: Node) -> list[Any]:
    """The amounts in front of an axis and behind it, of the last axis first."""
    known = node.operator.startswith(("pad.", "constant_pad_nd", "_pad_"))
    return list(node.argument("pad" if known else "padding"))


def _mode(node: Node) -> str:
    """The mode, in the words of ``torch.nn.functional.pad``."""
    name = node.operator.partition(".")[0]
    if name == "pad":
        return str(node.argument("mode"))
    kinds = {"constant": "constant", "reflection": "reflect", "replication": "replicate"}
    return kinds.get(name.partition("_")[0], "circular")


def _value(node: Node) -> Any:
    """The value around the data, 0 where the program states none."""
    value = node.argument("value")
    return 0 if value is None else value


def _plain(size: PrimExpr) -> PrimExpr:
    known = tvm_api.as_int(size)
    return size if known is None else tvm_api.integer(known)


CONVERSIONS: dict[str, Convert] = dict.fromkeys(
    (
        *("pad.default", "constant_pad_nd.default", "_pad_circular.default"),
        *(
            f"{name}_pad{rank}d.default"
            for name in ("reflection", "replication")
            for rank in (1, 2, 3)
        ),
    ),
    convert_pad,
)

_DATA = np.arange(6, dtype=np.float32).reshape(1, 2, 3)

FIX = Fix(
    name="torch_padding",
    operators=tuple(CONVERSIONS),
    fault="reflection and replication are missing from the importer of PyTorch programs",
    issue=None,
    parts=(
        FaultPart("reflection", partial(differs, "reflection_pad1d.default", _DATA, [1, 2])),
        FaultPart(
            "volumes",
            partial(differs, "replication_pad3d.default", _DATA[None, None], [1, 0, 1, 0, 0, 1]),
        ),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_unsupported",
    patch=patch(CONVERSIONS),
)
