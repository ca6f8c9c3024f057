"""Running sums and products, in the dtype that PyTorch accumulates in, and running extremes."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.computing import computed_all, looped
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.elements import loops, undefined
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/torch/scans.py")


def convert_scan(node: Node) -> Expr:
    """The running sum or product along an axis; of a tensor without dimensions, that tensor."""
    scan = relax.op.cumprod if node.operator.startswith("cumprod") else relax.op.cumsum
    data = operands.tensor(node, node.argument("self"), node.dtype)
    rank = operands.rank_of(data)
    if not rank:
        return data
    return node.emit(scan(data, operands.axis(node, node.argument("dim"), rank)))


def convert_extremes(node: Node) -> Expr:
    """The largest or smallest element so far along an axis, and the place of the last such.

    From a NaN on, all are NaN; the place is that of the last NaN.
    """
    data, dtype = node.argument("self"), node.dtype
    rank = operands.rank_of(data)
    axis = operands.axis(node, node.argument("dim"), rank)
    inner = "int8" if dtype == "bool" else operands.inner_dtype(dtype)
    rises = node.operator.startswith("cummax")

    def compute(source: Tensor) -> list[Tensor]:
        return looped(
            "extremes",
            [source.shape, source.shape],
            [inner, "int64"],
            [source],
            lambda ins, outs: _follow(ins[0], outs, axis, rises),
        )

    lifted = operands.lifted(node, operands.cast(node, data, inner))
    values, places = computed_all(node, 2, compute, lifted)
    if not rank:
        values, places = (operands.reshaped(node, each, []) for each in (values, places))
    return relax.Tuple([operands.cast(node, values, dtype), places])


def _follow(source: Any, results: Sequence[Any], axis: int, rises: bool) -> Any:
    """Write values and places, each after the one before it along ``axis``."""
    values, places = results
    is_float = "float" in tvm_api.dtype_of(source)

    def step(at: Sequence[PrimExpr]) -> Any:
        last = list(at)
        last[axis] = tirx.max(at[axis] - tvm_api.integer(1), tvm_api.integer(0))
        element, before = source[tuple(at)], values[tuple(last)]
        wins = element >= before if rises else element <= before
        if is_float:
            wins = tirx.any(wins, undefined(element))
        wins = tirx.any(tvm_api.equal(at[axis], tvm_api.integer(0)), wins)
        place = tirx.Select(wins, at[axis], places[tuple(last)])
        return tirx.SeqStmt(
            [
                # The value is last: the place depends on the one before it.
                tirx.BufferStore(places, place, list(at)),
                tirx.BufferStore(values, tirx.Select(wins, element, before), list(at)),
            ]
        )

    return loops(list(source.shape), step)


CONVERSIONS: dict[str, Convert] = {
    "cumsum.default": convert_scan,
    "cumprod.default": convert_scan,
    "cummax.default": convert_extremes,
    "cummin.default": convert_extremes,
}

_FLAGS = np.array([True, False, True])

FIX = Fix(
    name="torch_scans",
    operators=tuple(CONVERSIONS),
    fault="running sums and products of bools and integers keep their dtype in PyTorch programs",
    issue=None,
    parts=(
        FaultPart("bools", partial(differs, "cumsum.default", _FLAGS, 0)),
        FaultPart("no dimensions", partial(differs, "cumprod.default", np.array(2.0), 0)),
        FaultPart("missing", partial(differs, "cummax.default", np.array([1.0, 3, 2]), 0)),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_reductions",
    patch=patch(CONVERSIONS),
)
