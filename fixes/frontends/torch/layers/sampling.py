"""Sampling of images at the places of a grid, grids of affine maps, and distances of points."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.computing import broadcast, computed, filled, largest
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.elements import broadcast_shape
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.lowerings.images.grid_sample import sampled
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/torch/sampling.py")

_IMAGE = 4
"""The rank of images."""
_METHODS = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


def convert_grid_sample(node: Node) -> Expr:
    """``input`` at the places of ``grid``, whose coordinates are last, where Relax has them second.

    ``interpolation_mode`` and ``padding_mode`` are numbers. Relax samples images alone.
    """
    data, grid = node.argument("input"), node.argument("grid")
    method = _METHODS[node.argument("interpolation_mode")]
    padding = _PADDINGS[node.argument("padding_mode")]
    aligns, rank = bool(node.argument("align_corners")), operands.rank_of(data)
    places = node.emit(relax.op.permute_dims(grid, [0, rank - 1, *range(1, rank - 1)]))
    if rank == _IMAGE:
        return node.emit(
            relax.op.image.grid_sample(
                data,
                places,
                method=method,
                layout="NCHW",
                padding_mode=padding,
                align_corners=aligns,
            )
        )

    def compute(source: Tensor, coordinates: Tensor) -> Tensor:
        return sampled(source, coordinates, method, padding, aligns)

    return computed(node, compute, data, places)


def convert_affine_grid(node: Node) -> Expr:
    """The places in a plane or in space that affine maps send those of data of ``size`` to."""
    theta, aligns = node.argument("theta"), bool(node.argument("align_corners"))
    size = [
        tvm_api.integer(each) if isinstance(each, int) else each for each in node.argument("size")
    ]
    dtype = tvm_api.dtype_of(theta)

    def compute(maps: Tensor, extents: Sequence[PrimExpr]) -> Tensor:
        def coordinate(place: PrimExpr, extent: PrimExpr) -> PrimExpr:
            """From -1 to 1, at the corners or at the middle of the first and the last place."""
            two, one = tvm_api.integer(2), tvm_api.integer(1)
            if aligns:
                gaps = tirx.max(extent - one, one)
                ahead = (place * two - (extent - one)).astype(dtype)
                return tirx.Select(extent > one, ahead / gaps.astype(dtype), tirx.const(0, dtype))
            return (place * two + one - extent).astype(dtype) / extent.astype(dtype)

        def element(at: Sequence[PrimExpr]) -> PrimExpr:
            sample, *places, axis = at
            total = maps[sample, axis, len(places)]
            # A map has the coordinate along the last axis first.
            for number, (place, extent) in enumerate(zip(places[::-1], extents[::-1], strict=True)):
                total = total + maps[sample, axis, number] * coordinate(place, extent)
            return total

        shape = [maps.shape[0], *extents, tvm_api.integer(len(extents))]
        return filled(shape, element, "grid")

    return computed(node, compute, theta, size[2:])


def convert_distances(node: Node) -> Expr:
    """The distances of each pair of points of two sets, in the norm of order ``p``."""
    points = [operands.cast(node, node.argument(name), node.dtype) for name in ("x1", "x2")]
    return _distances(node, points[0], points[1])


def convert_own_distances(node: Node) -> Expr:
    """The distances of each pair of points of one set, in the norm of order ``p``.

    Raises:
        OpNotImplemented: the number of points is a symbol.
    """
    points = node.argument("self")
    count = tvm_api.as_int(tvm_api.shape_of(points)[0])
    if count is None:
        raise refuse(node.operator, self=tvm_api.show(tvm_api.shape_of(points)))
    pairs = np.triu_indices(count, 1)
    sides = [
        node.emit(relax.op.expand_dims(relax.op.take(points, relax.const(side, "int64"), 0), 1))
        for side in pairs
    ]
    return operands.reshaped(node, _distances(node, sides[0], sides[1]), [len(pairs[0])])


def _distances(node: Node, *points: Expr) -> Expr:
    """The distances of each point of the first set to each of the second."""
    order, dtype = float(node.argument("p")), node.dtype

    def compute(left: Tensor, right: Tensor) -> Tensor:
        batch = broadcast_shape([left.shape[:-2], right.shape[:-2]]) if len(left.shape) > 2 else []
        axis = te.reduce_axis((0, left.shape[-1]), name="k")
        count = len(batch)

        def element(*at: PrimExpr) -> PrimExpr:
            lead, i, j = at[:count], at[count], at[count + 1]
            first = broadcast(left, [*lead, i, axis])
            apart = tirx.abs(first - broadcast(right, [*lead, j, axis]))
            if order == float("inf"):
                return largest(apart, axis=axis)
            if order == 0:
                one, zero = tirx.const(1, dtype), tirx.const(0, dtype)
                return te.sum(tirx.Select(apart > zero, one, zero), axis=axis)
            if order in (1, 2):
                return te.sum(apart if order == 1 else apart * apart, axis=axis)
            return te.sum(tirx.power(apart, tirx.const(order, dtype)), axis=axis)

        shape = [*batch, left.shape[-2], right.shape[-2]]
        total = te.compute(shape, element, name="distances")
        if order in (0, 1, float("inf")):
            return total
        return filled(total.shape, lambda at: _root(total[tuple(at)], order), "roots")

    return computed(node, compute, *points)


def _root(value: PrimExpr, order: float) -> PrimExpr:
    if order == 2:
        return tirx.sqrt(value)
    return tirx.power(value, tirx.const(1 / order, tvm_api.dtype_of(value)))


CONVERSIONS: dict[str, Convert] = {
    "grid_sampler.default": convert_grid_sample,
    "grid_sampler_2d.default": convert_grid_sample,
    "grid_sampler_3d.default": convert_grid_sample,
    "affine_grid_generator.default": convert_affine_grid,
    "cdist.default": convert_distances,
    "_cdist_forward.default": convert_distances,
    "_pdist_forward.default": convert_own_distances,
    "pdist.default": convert_own_distances,
}

_DATA = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4)
_GRID = (np.arange(12, dtype=np.float32).reshape(1, 2, 3, 2) - 6) / 8
_PLACES = _GRID.reshape(1, 1, 2, 2, 3)
_MAP = np.array([[[1, 0, 0.5], [0.5, 1, 0]]], np.float32)

FIX = Fix(
    name="torch_sampling",
    operators=tuple(CONVERSIONS),
    fault=(
        "grid_sample of PyTorch programs reads the grid in another layout and takes no volumes;"
        " cdist is missing"
    ),
    issue=None,
    parts=(
        FaultPart("grids", partial(differs, "grid_sampler_2d.default", _DATA, _GRID, 0, 0, False)),
        FaultPart(
            "volumes",
            partial(differs, "grid_sampler_3d.default", _DATA[None], _PLACES, 0, 0, False),
        ),
        FaultPart(
            "maps", partial(differs, "affine_grid_generator.default", _MAP, [1, 1, 2, 3], False)
        ),
        FaultPart(
            "distances",
            partial(differs, "_cdist_forward.default", _DATA[0, 0], _DATA[0, 0] + 1, 2.0, None),
        ),
        FaultPart("own distances", partial(differs, "_pdist_forward.default", _DATA[0, 0])),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_pooling",
    patch=patch(CONVERSIONS),
)
