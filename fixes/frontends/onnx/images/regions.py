"""ONNX's RoiAlign and AffineGrid.

TVM shifts boxes by half a pixel before they are scaled, not after; takes the largest sample, where
ONNX's evaluator and ONNX Runtime take the largest share of an element; and refuses the size of a
grid at run time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.framework.probes import Array
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import bounded, computed, filled, largest
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/regions.py")

_ALIGNED = "half_pixel"
_COORDINATES = (_ALIGNED, "output_half_pixel")
_HAS_COORDINATES = 16
_MODES = ("avg", "max")


def roi_align(node: Node) -> Expr:
    """The mean, or the largest share, of samples in each part of each box.

    Raises:
        ValueError: an attribute or a shape is invalid.
    """
    data, boxes = operands.required(node, 0, "X"), operands.required(node, 1, "rois")
    batch = operands.required(node, 2, "batch_indices")
    for name, value, rank in (("X", data, 4), ("rois", boxes, 2), ("batch_indices", batch, 1)):
        if operands.rank_of(value) != rank:
            shape = tvm_api.show(tvm_api.shape_of(value))
            shown = {f"shape of {name}": shape}
            raise invalid(node.operator, f"it must have {rank} dimensions", **shown)
    default = _ALIGNED if node.opset >= _HAS_COORDINATES else _COORDINATES[1]
    coordinates = operands.choice(node, "coordinate_transformation_mode", default, _COORDINATES)
    mode = operands.choice(node, "mode", "avg", _MODES)
    parts = [int(node.attribute(name, 1)) for name in ("output_height", "output_width")]
    if min(parts) < 1:
        why = "both must be 1 or more"
        raise invalid(node.operator, why, output_height=parts[0], output_width=parts[1])
    ratio = int(node.attribute("sampling_ratio", 0))
    scale = operands.decimal(node, "spatial_scale", 1.0)
    dtype = tvm_api.dtype_of(data)
    inner = operands.inner_dtype(dtype)

    def compute(source: Tensor, corners: Tensor, images: Tensor) -> Tensor:
        aligned = coordinates == _ALIGNED
        sampling = _Sampling(source, corners, images, parts, scale, ratio, aligned, inner)
        return sampling.largest() if mode == "max" else sampling.mean()

    wide = [operands.widened(node, value, inner) for value in (data, boxes)]
    return operands.widened(node, computed(node, compute, *wide, batch), dtype)


@dataclass(frozen=True, slots=True)
class _Sampling:
    """The samples of boxes: ``parts`` along height and width, each with a grid of samples.

    ``corners`` are (x1, y1, x2, y2) before they are multiplied by ``scale``, and ``images`` the
    numbers of the images. ``ratio`` samples lie along each side of a part, as many as it is long
    if that is 0. ``aligned``: coordinates are shifted by half a pixel.
    """

    source: Tensor
    corners: Tensor
    images: Tensor
    parts: Sequence[int]
    scale: float
    ratio: int
    aligned: bool
    dtype: str

    def number(self, value: float) -> PrimExpr:
        """``value`` in the dtype of coordinates."""
        return tirx.const(value, self.dtype)

    @property
    def shape(self) -> list[PrimExpr]:
        """The shape of the result."""
        parts = [tvm_api.integer(part) for part in self.parts]
        return [self.corners.shape[0], self.source.shape[1], *parts]

    def span(self, box: PrimExpr, axis: int) -> tuple[PrimExpr, PrimExpr]:
        """The start of ``box`` along ``axis``, height or width, and the size of a part."""
        shift = self.number(0.5 if self.aligned else 0.0)
        start, end = (
            self.corners[box, tvm_api.integer(at)] * self.number(self.scale) - shift
            for at in (1 - axis, 3 - axis)
        )
        size = end - start
        if not self.aligned:
            size = tirx.max(size, self.number(1.0))
        return start, size / self.number(float(self.parts[axis]))

    def count(self, box: PrimExpr, axis: int) -> PrimExpr:
        """The number of samples along ``axis`` of each part."""
        if self.ratio > 0:
            return tvm_api.integer(self.ratio)
        _, size = self.span(box, axis)
        return tirx.max(tirx.ceil(size).astype("int64"), tvm_api.integer(0))

    def taps(
        self, box: PrimExpr, axis: int, part: PrimExpr, sample: PrimExpr
    ) -> tuple[PrimExpr, list[tuple[PrimExpr, PrimExpr]]]:
        """True if a sample is near the image, and the two elements about it with their shares."""
        start, size = self.span(box, axis)
        length = self.source.shape[2 + axis]
        step = (sample.astype(self.dtype) + self.number(0.5)) * size
        at = (
            start + part.astype(self.dtype) * size + step / self.count(box, axis).astype(self.dtype)
        )
        near = tirx.all(at >= self.number(-1.0), at <= length.astype(self.dtype))
        last = (length - tvm_api.integer(1)).astype(self.dtype)
        at = tirx.max(tirx.min(at, last), self.number(0.0))
        low = tirx.floor(at)
        share = at - low
        places = [bounded(low.astype("int64") + tvm_api.integer(k), length) for k in (0, 1)]
        return near, list(zip(places, (self.number(1.0) - share, share), strict=True))

    def terms(self, indices: Sequence[PrimExpr], samples: Sequence[PrimExpr]) -> list[PrimExpr]:
        """The four elements about a sample, each times its share; zeros outside of the image."""
        box, channel, *parts = indices
        image = self.images[box].astype("int64")
        near_y, rows = self.taps(box, 0, parts[0], samples[0])
        near_x, columns = self.taps(box, 1, parts[1], samples[1])
        near = tirx.all(near_y, near_x)
        return [
            tirx.if_then_else(
                near, self.source[image, channel, y, x] * (share * other), self.number(0.0)
            )
            for y, share in rows
            for x, other in columns
        ]

    def mean(self) -> Tensor:
        """The mean of the samples of each part, 0 if there are none."""

        def total(indices: Sequence[PrimExpr]) -> PrimExpr:
            axes = self.axes(indices[0])
            first, *rest = self.terms(indices, [axis.var for axis in axes])
            for term in rest:
                first = first + term
            return te.sum(first, axis=axes)

        sums = filled(self.shape, total, "sums")

        def element(indices: Sequence[PrimExpr]) -> PrimExpr:
            count = self.count(indices[0], 0) * self.count(indices[0], 1)
            count = tirx.max(count, tvm_api.integer(1))
            return sums[tuple(indices)] / count.astype(self.dtype)

        return filled(self.shape, element, "mean")

    def largest(self) -> Tensor:
        """The largest share of an element in the samples of each part, 0 if there are none."""

        def most(indices: Sequence[PrimExpr]) -> PrimExpr:
            axes = self.axes(indices[0])
            first, *rest = self.terms(indices, [axis.var for axis in axes])
            for term in rest:
                first = tirx.max(first, term)
            return largest(first, axis=axes)

        tops = filled(self.shape, most, "tops")

        def element(indices: Sequence[PrimExpr]) -> PrimExpr:
            count = self.count(indices[0], 0) * self.count(indices[0], 1)
            return tirx.Select(count > tvm_api.integer(0), tops[tuple(indices)], self.number(0.0))

        return filled(self.shape, element, "largest")

    def axes(self, box: PrimExpr) -> list[PrimExpr]:
        """The axes of a reduction over the samples of a part."""
        return [te.reduce_axis((0, self.count(box, axis)), name) for axis, name in enumerate("yx")]


def affine_grid(node: Node) -> Expr:
    """The places of a grid over [-1, 1], moved by an affine map.

    Raises:
        ValueError: a shape is invalid.
    """
    theta = operands.required(node, 0, "theta")
    dims = tvm_api.shape_of(theta)
    rank = tvm_api.as_int(dims[1]) if len(dims) == 3 else None
    if rank not in (2, 3) or tvm_api.as_int(dims[2]) != rank + 1:
        why = "it must be (N, 2, 3) or (N, 3, 4)"
        raise invalid(node.operator, why, **{"shape of theta": tvm_api.show(dims)})
    sizes = operands.sizes(node, 1, "size", rank + 2)[2:]
    aligned = operands.flag(node, "align_corners")
    dtype = tvm_api.dtype_of(theta)
    inner = operands.inner_dtype(dtype)

    def compute(maps: Tensor, spatial: list[PrimExpr]) -> Tensor:
        def along(place: PrimExpr, size: PrimExpr) -> PrimExpr:
            one, two = tirx.const(1, inner), tirx.const(2, inner)
            at, length = place.astype(inner), size.astype(inner)
            if not aligned:
                return (two * at + one) / length - one
            # A single place lies at the start, as in ONNX Runtime.
            return two * at / tirx.max(length - one, one) - one

        def element(indices: Sequence[PrimExpr]) -> PrimExpr:
            image, *places, row = indices
            result = maps[image, row, tvm_api.integer(len(spatial))]
            # The first column is of the last axis, x.
            for column, (place, size) in enumerate(
                zip(reversed(places), reversed(spatial), strict=True)
            ):
                share = maps[image, row, tvm_api.integer(column)]
                result = result + share * along(place, size)
            return result

        shape = [maps.shape[0], *spatial, tvm_api.integer(len(spatial))]
        return filled(shape, element, "grid")

    wide = operands.widened(node, theta, inner)
    return operands.widened(node, computed(node, compute, wide, list(sizes)), dtype)


CONVERSIONS: dict[str, Convert] = {"RoiAlign": roi_align, "AffineGrid": affine_grid}


def _shifts_before_scaling() -> bool:
    """True if a box is shifted by half a pixel before it is scaled."""
    inputs: dict[str, Array] = {
        "X": np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4),
        "rois": np.array([[4, 4, 8, 8]], np.float32),
        "batch_indices": np.zeros(1, np.int64),
    }
    settings: dict[str, Any] = {"spatial_scale": 0.25, "sampling_ratio": 1}
    model = node_model("RoiAlign", inputs, 16, **settings)
    # The box is from 0.5 to 1.5, its center (1, 1).
    return fails(model, list(inputs.values()), [np.full((1, 1, 1, 1), 5, np.float32)])


def _refuses_sizes() -> bool:
    """True if the size of a grid is refused at run time."""
    inputs: dict[str, Array] = {
        "theta": np.array([[[1, 0, 0], [0, 1, 0]]], np.float32),
        "size": np.array([1, 1, 1, 2], np.int64),
    }
    expected = np.array([[[[-0.5, 0], [0.5, 0]]]], np.float32)
    return fails(node_model("AffineGrid", inputs, 20), list(inputs.values()), [expected])


FIX = Fix(
    name="onnx_regions",
    operators=tuple(CONVERSIONS),
    fault=(
        "ONNX's RoiAlign shifts boxes before it scales them, and takes the largest sample, not the"
        " largest share; the size of AffineGrid is refused at run time"
    ),
    issue=None,
    parts=(
        FaultPart("a shift before the scale", _shifts_before_scaling),
        FaultPart("sizes at run time", _refuses_sizes),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_boxes",
    patch=patch(CONVERSIONS),
)
