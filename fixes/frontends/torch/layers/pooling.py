"""Averages of windows with any divisor, and the largest elements of adaptive windows."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.computing import bounded, computed, filled, largest, lowest
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.probing import differs, made_of
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/torch/pooling.py")


def each_axis(value: Any, rank: int) -> list[int]:
    """``value`` for each spatial axis."""
    several = list(value) if isinstance(value, list | tuple) else [value]
    return several * rank if len(several) == 1 else several


def convert_average(node: Node) -> Expr:
    """The averages of windows.

    A window that reaches beyond the padding is cut there. Its divisor is the number of its places,
    those in the padding included unless the program leaves them out, or the one that it states.
    """
    rank = int(node.operator[len("avg_pool")])
    data, dtype = node.argument("self"), node.dtype
    kernel = each_axis(node.argument("kernel_size"), rank)
    stride = each_axis(node.argument("stride") or kernel, rank)
    padding = each_axis(node.argument("padding"), rank)
    rounds_up, counts = bool(node.argument("ceil_mode")), bool(node.argument("count_include_pad"))
    override = node.argument("divisor_override") if rank > 1 else None
    inner = operands.inner_dtype(dtype)
    lead = operands.rank_of(data) - rank

    def compute(source: Tensor) -> Tensor:
        dims = list(source.shape)[lead:]
        sizes = [
            window_count(size, k, s, p, rounds_up)
            for size, k, s, p in zip(dims, kernel, stride, padding, strict=True)
        ]
        axes = [te.reduce_axis((0, k), name=f"k{at}") for at, k in enumerate(kernel)]

        def total(*at: PrimExpr) -> PrimExpr:
            places = [
                i * s - p + k for i, s, p, k in zip(at[lead:], stride, padding, axes, strict=True)
            ]
            inside = [
                tirx.all(place >= 0, place < size) for place, size in zip(places, dims, strict=True)
            ]
            where = [bounded(place, size) for place, size in zip(places, dims, strict=True)]
            element = source[(*at[:lead], *where)]
            return te.sum(tirx.Select(tirx.all(*inside), element, tirx.const(0, inner)), axis=axes)

        sums = te.compute([*source.shape[:lead], *sizes], total, name="sums")

        def average(at: Sequence[PrimExpr]) -> PrimExpr:
            if override is not None:
                return _quotient(sums[tuple(at)], tirx.const(override, inner))
            divisor: PrimExpr = tvm_api.integer(1)
            for i, size, k, s, p in zip(at[lead:], dims, kernel, stride, padding, strict=True):
                start = i * s - p
                end = tirx.min(start + k, size + p)
                if not counts:
                    start = tirx.max(start, tvm_api.integer(0))
                    end = tirx.min(end, size)
                divisor = divisor * (end - start)
            return _quotient(sums[tuple(at)], divisor.astype(inner))

        return filled(sums.shape, average, "averages")

    result = computed(node, compute, operands.cast(node, data, inner))
    return operands.cast(node, result, dtype)


def _quotient(total: PrimExpr, count: PrimExpr) -> PrimExpr:
    if "int" in tvm_api.dtype_of(total):
        return tirx.truncdiv(total, count)
    return total / count


def window_count(
    size: PrimExpr, kernel: int, stride: int, padding: int, rounds_up: bool
) -> PrimExpr:
    """The number of windows; none starts behind the elements and the padding before them."""
    span = size + (2 * padding - kernel)
    if not rounds_up:
        return tvm_api.floordiv(span, stride) + 1
    count = tvm_api.floordiv(span + (stride - 1), stride) + 1
    known = tvm_api.as_int(size)
    if known is not None:
        whole = -(-(known + 2 * padding - kernel) // stride) + 1
        return tvm_api.integer(whole - int((whole - 1) * stride >= known + padding))
    return tirx.Select((count - 1) * stride >= size + padding, count - 1, count)


_ADAPTIVE = {
    1: relax.op.nn.adaptive_avg_pool1d,
    2: relax.op.nn.adaptive_avg_pool2d,
    3: relax.op.nn.adaptive_avg_pool3d,
}


def convert_adaptive_average(node: Node) -> Expr:
    """The average of each window, of windows that cover the data evenly."""
    rank = int(node.operator.strip("_")[len("adaptive_avg_pool")])
    data = node.argument("self")
    alone = operands.rank_of(data) == rank + 1
    batch = node.emit(relax.op.expand_dims(data, 0)) if alone else data
    sizes = each_axis(node.argument("output_size"), rank)
    if not all(isinstance(size, int) for size in sizes):
        return _adaptive_averages(node, data, sizes)
    result = node.emit(_ADAPTIVE[rank](batch, sizes))
    return node.emit(relax.op.squeeze(result, [0])) if alone else result


def _adaptive_averages(node: Node, data: Expr, sizes: Sequence[Any]) -> Expr:
    """The averages of as many windows as ``sizes`` say, of which Relax's operator takes numbers."""
    inner, lead = operands.inner_dtype(node.dtype), operands.rank_of(data) - len(sizes)
    counts = [tvm_api.integer(size) if isinstance(size, int) else size for size in sizes]

    def compute(source: Tensor, counts: Sequence[PrimExpr]) -> Tensor:
        extents = list(source.shape)[lead:]

        def total(*at: PrimExpr) -> PrimExpr:
            axes, places, inside = _adaptive_window("k", at[lead:], extents, counts)
            element = source[(*at[:lead], *places)]
            return te.sum(tirx.Select(inside, element, tirx.const(0, inner)), axis=axes)

        sums = te.compute([*source.shape[:lead], *counts], total, name="sums")

        def average(at: Sequence[PrimExpr]) -> PrimExpr:
            divisor: PrimExpr = tvm_api.integer(1)
            for start, end in _adaptive_limits(at[lead:], extents, counts):
                divisor = divisor * (end - start)
            return sums[tuple(at)] / divisor.astype(inner)

        return filled(sums.shape, average, "averages")

    result = computed(node, compute, operands.cast(node, data, inner), counts)
    return operands.cast(node, result, node.dtype)


def _adaptive_limits(
    at: Sequence[PrimExpr], extents: Sequence[PrimExpr], counts: Sequence[PrimExpr]
) -> list[tuple[PrimExpr, PrimExpr]]:
    """The first place of the window ``at`` of ``counts``, and the one behind its last, by axis."""
    return [
        (
            tvm_api.floordiv(i * extent, count),
            tvm_api.floordiv((i + 1) * extent + (count - 1), count),
        )
        for i, extent, count in zip(at, extents, counts, strict=True)
    ]


def _adaptive_window(
    name: str, at: Sequence[PrimExpr], extents: Sequence[PrimExpr], counts: Sequence[PrimExpr]
) -> tuple[list[Any], list[PrimExpr], PrimExpr]:
    """The axes to reduce, the places in the data, and whether they are in the window ``at``."""
    axes, places, inside = [], [], []
    limits = _adaptive_limits(at, extents, counts)
    for number, ((start, end), extent, count) in enumerate(
        zip(limits, extents, counts, strict=True)
    ):
        # A window begins in the middle of an element at most, and ends so.
        longest = tvm_api.floordiv(extent + (count - 1), count) + 1
        axes.append(te.reduce_axis((0, longest), name=f"{name}{number}"))
        place = start + axes[-1]
        inside.append(place < end)
        places.append(bounded(place, extent))
    return axes, places, tirx.all(*inside)


def convert_adaptive_maximum(node: Node) -> Expr:
    """The largest element of each window, and its place, of windows that cover the data evenly.

    Of several the first counts, but of NaN the last.
    """
    rank = int(node.operator[len("adaptive_max_pool")])
    data = node.argument("self")
    lead = operands.rank_of(data) - rank
    dims = tvm_api.shape_of(data)[lead:]
    stated = each_axis(node.argument("output_size"), rank)
    sizes = [
        dim if size is None else tvm_api.integer(size)
        for dim, size in zip(dims, stated, strict=True)
    ]

    def compute(source: Tensor, counts: Sequence[PrimExpr]) -> list[Tensor]:
        extents = list(source.shape)[lead:]
        dtype = tvm_api.dtype_of(source)

        def window(name: str, at: Sequence[PrimExpr]) -> Any:
            return _adaptive_window(name, at[lead:], extents, counts)

        shape = [*source.shape[:lead], *counts]

        def best(*at: PrimExpr) -> PrimExpr:
            axes, places, inside = window("k", at)
            element = source[(*at[:lead], *places)]
            return largest(tirx.Select(inside, element, lowest(dtype)), axis=axes)

        values = te.compute(shape, best, name="largest")

        def first(*at: PrimExpr) -> PrimExpr:
            axes, places, inside = window("j", at)
            flat: PrimExpr = tvm_api.integer(0)
            for place, extent in zip(places, extents, strict=True):
                flat = flat * extent + place
            element = source[(*at[:lead], *places)]
            found = tirx.all(inside, tvm_api.equal(element, values[at]))
            place = tirx.Select(found, flat, tirx.max_value("int64"))
            if "float" in dtype:
                # The last NaN is the place that PyTorch has: places of NaN are below 0, and fall.
                fails = tirx.all(inside, tirx.isnan(element.astype(operands.inner_dtype(dtype))))
                place = tirx.Select(fails, tvm_api.integer(-1) - flat, place)
            return te.min(place, axis=axes)

        found = te.compute(shape, first, name="found")

        def from_front(at: Sequence[PrimExpr]) -> PrimExpr:
            place = found[tuple(at)]
            return tirx.max(place, tvm_api.integer(-1) - place)

        return [values, filled(shape, from_front, "places")]

    both = computed(node, compute, data, sizes)
    return relax.Tuple([node.emit(relax.TupleGetItem(both, number)) for number in range(2)])


CONVERSIONS: dict[str, Convert] = {
    **dict.fromkeys([f"avg_pool{rank}d.default" for rank in (1, 2, 3)], convert_average),
    **dict.fromkeys(
        [f"{mark}adaptive_avg_pool{rank}d.default" for mark in ("", "_") for rank in (1, 2, 3)],
        convert_adaptive_average,
    ),
    **dict.fromkeys(
        [f"adaptive_max_pool{rank}d.default" for rank in (1, 2, 3)], convert_adaptive_maximum
    ),
}

_DATA = np.arange(1, 10, dtype=np.float32).reshape(1, 1, 3, 3)


def _refuses_symbols() -> bool:
    """True if TVM does not average as many windows as a symbol says."""
    import torch

    def call(graph: Any, data: Any) -> Any:
        size = graph.call_function(torch.ops.aten.sym_size.int, (data, 2))
        average = torch.ops.aten._adaptive_avg_pool2d.default
        result = graph.call_function(average, (data, [size, 2]))
        result.meta["val"] = torch.zeros(1)
        return result

    try:
        made_of(call, [([1, 1, tvm_api.shape_var("n"), 3], "float32")])
    except Exception:
        # Of any kind: the importer does not convert it.
        return True
    return False


FIX = Fix(
    name="torch_pooling",
    operators=tuple(CONVERSIONS),
    fault="averages of PyTorch programs have other divisors; adaptive_max_pool is missing",
    issue=None,
    parts=(
        FaultPart(
            "divisors",
            partial(differs, "avg_pool2d.default", _DATA, [2], [2], [0], False, True, 3),
        ),
        FaultPart("adaptive", partial(differs, "adaptive_max_pool2d.default", _DATA, [2, 2])),
        FaultPart("one sample", partial(differs, "adaptive_avg_pool1d.default", _DATA[0, 0], [2])),
        FaultPart("symbolic", _refuses_symbols),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_creation",
    patch=patch(CONVERSIONS),
)
