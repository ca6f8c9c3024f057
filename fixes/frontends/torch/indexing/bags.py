"""Sums, means and maxima of bags of rows of a table."""

from collections.abc import Sequence
from functools import partial
from operator import getitem
from typing import Any

import numpy as np
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.computing import computed_all, looped, lowest
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.elements import loops
from relaxcheck.fixes.frontends.torch.probing import call_differs
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/torch/bags.py")

_MODES = ("sum", "mean", "max")


def convert_bags(node: Node) -> Expr:
    """The rows of ``weight`` at the indices of each bag, combined; 0 of an empty bag.

    Rows of the index ``padding_idx`` do not count.

    Raises:
        OpNotImplemented: the program reads a result that training alone needs.
    """
    for user in node.call.users:
        if user.target is not getitem or user.args[1] != 0:
            raise refuse(node.operator, result=user.name)
    table, dtype = node.argument("weight"), node.dtype
    mode, padding = _MODES[node.argument("mode")], int(node.argument("padding_idx"))
    rows = tvm_api.as_int(tvm_api.shape_of(table)[0])
    if padding < -1 and rows is not None:
        padding += rows
    inner = operands.inner_dtype(dtype)
    scales = node.argument("per_sample_weights")
    tensors = [operands.cast(node, table, inner)]
    for name in ("indices", "offsets"):
        tensors.append(operands.cast(node, node.argument(name), "int64"))
    if scales is not None:
        tensors.append(operands.cast(node, scales, inner))
    ends_last = bool(node.argument("include_last_offset"))

    def compute(sources: Sequence[Tensor]) -> list[Tensor]:
        count = sources[2].shape[0] - (1 if ends_last else 0)
        known = tvm_api.as_int(count)
        bags = count if known is None else tvm_api.integer(known)
        return looped(
            "bags",
            [[bags, sources[0].shape[1]], [bags]],
            [inner, "int64"],
            list(sources),
            lambda ins, outs: _combine(ins, outs, mode, padding),
        )

    values, _ = computed_all(node, 2, compute, tensors)
    unread = node.emit(relax.op.zeros(relax.ShapeExpr([0]), "int64"))
    return relax.Tuple([operands.cast(node, values, dtype), unread, unread, unread])


def _combine(inputs: Sequence[Any], results: Sequence[Any], mode: str, padding: int) -> Any:
    """Write the rows of each bag into the first of ``results``, and their number into the other."""
    table, indices, offsets, *scales = inputs
    rows, counts = results
    dtype = tvm_api.dtype_of(table)
    bags, width = rows.shape
    nothing = tirx.const(0, dtype)
    first = lowest(dtype) if mode == "max" else nothing
    zero, one = tvm_api.integer(0), tvm_api.integer(1)

    def begin(at: Sequence[PrimExpr]) -> Any:
        return tirx.SeqStmt(
            [
                tirx.BufferStore(counts, zero, [at[0]]),
                loops([width], lambda all_: tirx.BufferStore(rows, first, list(all_)), [at[0]]),
            ]
        )

    def add(bag: PrimExpr, place: PrimExpr) -> Any:
        index = indices[place]

        def write(at: Sequence[PrimExpr]) -> Any:
            element, before = table[index, at[-1]], rows[bag, at[-1]]
            if scales:
                element = element * scales[0][place]
            larger = tirx.Select(element > before, element, before)
            value = larger if mode == "max" else before + element
            return tirx.BufferStore(rows, value, [bag, at[-1]])

        counting = tirx.BufferStore(counts, counts[bag] + one, [bag])
        both = tirx.SeqStmt([loops([width], write, [bag, place]), counting])
        return tirx.IfThenElse(index != tvm_api.integer(padding), both, None)

    def fill(at: Sequence[PrimExpr]) -> Any:
        bag = at[0]
        start = offsets[bag]
        last = tirx.min(bag + one, offsets.shape[0] - one)
        stop = tirx.Select(bag + one < offsets.shape[0], offsets[last], indices.shape[0])
        return loops([stop - start], lambda each: add(bag, start + each[-1]), [bag])

    def finish(at: Sequence[PrimExpr]) -> Any:
        value, count = rows[tuple(at)], counts[at[0]]
        if mode == "mean":
            value = value / tirx.max(count, one).astype(dtype)
        empty = tvm_api.equal(count, zero)
        return tirx.BufferStore(rows, tirx.Select(empty, nothing, value), list(at))

    return tirx.SeqStmt([loops([bags], begin), loops([bags], fill), loops([bags, width], finish)])


CONVERSIONS: dict[str, Convert] = {
    "_embedding_bag.default": convert_bags,
    "_embedding_bag_forward_only.default": convert_bags,
}

_TABLE = np.arange(6, dtype=np.float32).reshape(3, 2)


FIX = Fix(
    name="torch_bags",
    operators=tuple(CONVERSIONS),
    fault="embedding_bag is not imported from PyTorch programs",
    issue=None,
    parts=(
        FaultPart(
            "sums",
            partial(
                call_differs,
                *("_embedding_bag.default", _TABLE, np.array([0, 2, 1]), np.array([0, 2])),
            ),
        ),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_antialiasing",
    patch=patch(CONVERSIONS),
)
