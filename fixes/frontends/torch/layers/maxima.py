"""The largest elements of windows, with their places."""

from collections.abc import Callable, Sequence
from functools import partial
from operator import getitem
from typing import Any

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.computing import (
    bounded,
    computed_all,
    filled,
    largest,
    lowest,
    within,
)
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.layers.pooling import each_axis, window_count
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/torch/maxima.py")

_POOL: dict[int, tuple[Callable[..., Expr], str]] = {
    1: (relax.op.nn.max_pool1d, "NCW"),
    2: (relax.op.nn.max_pool2d, "NCHW"),
    3: (relax.op.nn.max_pool3d, "NCDHW"),
}

Settings = Sequence[tuple[int, int, int, int]]
"""Of each spatial axis the sizes of window, stride and padding, and the dilation."""


def convert_maximum(node: Node) -> Expr:
    """The largest element of each window, and its place if the name has it.

    Places count the elements of one image. Of several the first counts, but of NaN the last.
    """
    rank = int(node.operator[len("max_pool")])
    data = node.argument("self")
    kernel = each_axis(node.argument("kernel_size"), rank)
    stride = each_axis(node.argument("stride") or kernel, rank)
    padding, dilation = (each_axis(node.argument(name), rank) for name in ("padding", "dilation"))
    settings = list(zip(kernel, stride, padding, dilation, strict=True))
    alone = operands.rank_of(data) == rank + 1
    batch = node.emit(relax.op.expand_dims(data, 0)) if alone else data
    if "with_indices" in node.operator and _reads_places(node):
        results = _with_places(node, batch, settings)
    else:
        results = [_largest(node, batch, settings)]
    if alone:
        results = [node.emit(relax.op.squeeze(each, [0])) for each in results]
    if "with_indices" not in node.operator:
        return results[0]
    return relax.Tuple(results if len(results) > 1 else results * 2)


def _reads_places(node: Node) -> bool:
    """True unless the values alone are read of the pair of results."""
    users = list(node.call.users)
    return not users or any(user.target is not getitem or user.args[1] != 0 for user in users)


def _largest(node: Node, data: Expr, settings: Settings) -> Expr:
    rank = len(settings)
    pool, layout = _POOL[rank]
    kernel, stride, padding, dilation = (list(each) for each in zip(*settings, strict=True))
    rounds_up = bool(node.argument("ceil_mode"))
    values = node.emit(
        pool(data, kernel, stride, padding * 2, dilation, ceil_mode=rounds_up, layout=layout)
    )
    if not rounds_up:
        return values
    # No window starts behind the data, where TVM has one more.
    sizes = _sizes(tvm_api.shape_of(data)[2:], settings, rounds_up)
    axes = list(range(2, 2 + rank))
    if all(map(tvm_api.proves_equal, tvm_api.shape_of(values)[2:], sizes)):
        return values
    return node.emit(relax.op.strided_slice(values, axes, [0] * rank, sizes))


def _sizes(dims: Sequence[PrimExpr], settings: Settings, rounds_up: bool) -> list[PrimExpr]:
    return [
        window_count(size, d * (k - 1) + 1, s, p, rounds_up)
        for size, (k, s, p, d) in zip(dims, settings, strict=True)
    ]


def _with_places(node: Node, data: Expr, settings: Settings) -> list[Expr]:
    """The largest elements, NaN where one is, and where they are in ``data``."""
    rounds_up = bool(node.argument("ceil_mode"))

    def compute(source: Tensor) -> list[Tensor]:
        dims, dtype = list(source.shape)[2:], tvm_api.dtype_of(source)

        def window(name: str, at: Sequence[PrimExpr]) -> tuple[Any, PrimExpr, PrimExpr, PrimExpr]:
            """The axes to reduce, where they are in the image, if so, and the element there."""
            axes = [
                te.reduce_axis((0, each[0]), name=f"{name}{number}")
                for number, each in enumerate(settings)
            ]
            flat: PrimExpr = tvm_api.integer(0)
            conditions, where = [], []
            for i, (_, s, p, d), k, size in zip(at[2:], settings, axes, dims, strict=True):
                place = i * s - p + d * k
                conditions.append(within(place, size))
                where.append(bounded(place, size))
                flat = flat * size + where[-1]
            return axes, flat, tirx.all(*conditions), source[(*at[:2], *where)]

        shape = [*source.shape[:2], *_sizes(dims, settings, rounds_up)]

        def best(*at: PrimExpr) -> PrimExpr:
            axes, _, inside, element = window("k", at)
            return largest(tirx.Select(inside, element, lowest(dtype)), axis=axes)

        values = te.compute(shape, best, name="largest")

        def first(*at: PrimExpr) -> PrimExpr:
            axes, flat, inside, element = window("j", at)
            found = tirx.all(inside, tvm_api.equal(element, values[at]))
            place = tirx.Select(found, flat, tirx.max_value("int64"))
            if "float" in dtype:
                # The last NaN is the place that PyTorch has: places of NaN are below 0, and fall.
                fails = tirx.all(inside, tirx.isnan(element.astype(operands.inner_dtype(dtype))))
                place = tirx.Select(fails, tvm_api.integer(-1) - flat, place)
            return te.min(place, axis=axes)

        found = te.compute(shape, first, name="found")

        def from_front(at: Sequence[PrimExpr]) -> PrimExpr:
            return tirx.max(found[tuple(at)], tvm_api.integer(-1) - found[tuple(at)])

        return [values, filled(shape, from_front, "places")]

    return computed_all(node, 2, compute, data)


CONVERSIONS: dict[str, Convert] = dict.fromkeys(
    [f"max_pool{rank}d{kind}.default" for rank in (1, 2, 3) for kind in ("", "_with_indices")],
    convert_maximum,
)

_DATA = np.array([[[[1, 5, 2], [4, 3, 9], [0, 6, 8]]]], np.float32)

FIX = Fix(
    name="torch_maxima",
    operators=tuple(CONVERSIONS),
    fault="places of the largest elements of windows are all 0 in PyTorch programs",
    issue=None,
    parts=(
        FaultPart("places", partial(differs, "max_pool2d_with_indices.default", _DATA, [2, 2])),
        FaultPart("no stride", partial(differs, "max_pool2d.default", _DATA, [2, 2], [])),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_ordering",
    patch=patch(CONVERSIONS),
)
