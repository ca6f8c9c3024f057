"""Regions of interest: boxes of an image, each pooled to one size."""

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.fills.kinds import Regions
from relaxcheck.generators.core.points import integer, text
from relaxcheck.generators.operators.choices import (
    decimal,
    extent,
    extent_choice,
    has_no_zero,
    numbers,
)
from relaxcheck.generators.operators.faults import (
    RANKS,
    SHAPES,
    argument_grown,
    argument_rank,
    attribute_is,
)
from relaxcheck.generators.operators.record import FLOATS, Attribute, Numerics, Operand, Operator

_ALIGN, _POOL = "vision.roi_align", "vision.roi_pool"

_EXTENT = 6
"""Boxes begin before this coordinate of the image, and are at most so long."""


def _boxes(draft: Draft, value: Value, point: Point) -> Value:
    """Rows of the number of an image and a box, in pixels before they are scaled."""
    draft.require(value.shape[0], 1)
    reach = round(_EXTENT / float(text(point, "spatial_scale")))
    count = extent(draft, value, point, "count")
    return draft.operand((count, 5), value.dtype, fill=Regions(value.shape[0], reach))


def _pooled(point: Point) -> tuple[int, ...]:
    size = numbers(point, "pooled_size")
    assert size is not None
    return size


def _roi_align(draft: Draft, value: Value, point: Point) -> None:
    for dim in value.shape[1:]:
        draft.require(dim, 1)
    boxes, pooled = _boxes(draft, value, point), _pooled(point)
    layout = text(point, "layout")
    attributes: dict[str, program.Attribute] = {
        "pooled_size": pooled,
        **decimal(point, "spatial_scale"),
        "sample_ratio": integer(point, "sample_ratio"),
        "aligned": bool(point["aligned"]),
        "layout": layout,
        "mode": text(point, "mode"),
    }
    channels = value.shape[layout.index("C")]
    own: tuple[Dim, ...] = (channels, *pooled) if layout == "NCHW" else (*pooled, channels)
    draft.call(_ALIGN, [value, boxes], (boxes.shape[0], *own), **attributes)


def _roi_pool(draft: Draft, value: Value, point: Point) -> None:
    for dim in value.shape[1:]:
        draft.require(dim, 1)
    boxes, pooled = _boxes(draft, value, point), _pooled(point)
    shape = (boxes.shape[0], value.shape[1], *pooled)
    scale = decimal(point, "spatial_scale")
    draft.call(_POOL, [value, boxes], shape, pooled_size=pooled, **scale)


_OPERANDS = (Operand("data", ranks=(4,)), Operand("rois", ranks=(2,), dtypes=FLOATS))
_COMMON = (
    extent_choice("count", (3, 1, 7, "symbol", 0)),
    Axis("pooled_size", ("2, 2", "1, 1", "3, 2", "4, 1", "3, 5"), "2, 2"),
    Axis("spatial_scale", ("1", "0.5", "0.25", "2"), "1"),
)
_REQUIRES = (
    "an element along each axis; boxes of an image that is there, with corners in their order"
)

OPERATORS = (
    Operator(
        _ALIGN,
        meaning="For each row (n, x1, y1, x2, y2) the box of image n, scaled, as pooled_size bins. "
        "A bin is the mean or the largest of samples at the centres of sample_ratio by "
        "sample_ratio parts of it; of as many as it has pixels, rounded up, where that is not "
        "positive. A sample is interpolated from four elements, clamped to the edges; it is 0 "
        "below -1 and above the size. Unless aligned, a box has at least one pixel along each "
        "axis.",
        source="docstring of relax.op.vision.roi_align; TOPI's roi_align and its reference in "
        "topi.testing; torchvision.ops.roi_align, whose aligned moves boxes by half a pixel, too",
        operands=_OPERANDS,
        attributes=(
            Attribute("pooled_size", "ints"),
            Attribute("spatial_scale", "float"),
            Attribute("sample_ratio", "int", -1),
            Attribute("aligned", "bool", False),
            Attribute("layout", "layout", "NCHW"),
            Attribute("mode", "text", "avg"),
        ),
        axes=(
            *_COMMON,
            Axis("sample_ratio", (-1, 1, 2, 3, 0), -1),
            Axis("aligned", (False, True), False),
            Axis("layout", ("NCHW", "NHWC"), "NCHW"),
            Axis("mode", ("avg", "max"), "avg"),
        ),
        apply=_roi_align,
        numerics=Numerics.ACCUMULATES,
        requires=_REQUIRES,
        operand_fits=has_no_zero,
        faults=(
            argument_rank(_ALIGN, 0),
            argument_rank(_ALIGN, 1),
            argument_grown(_ALIGN, 1, kind="rois-columns", names=(*SHAPES, "rois")),
            attribute_is("layout-unknown", _ALIGN, "layout", "NXHW", RANKS),
            attribute_is("mode-unknown", _ALIGN, "mode", "median"),
        ),
    ),
    Operator(
        _POOL,
        meaning="For each row (n, x1, y1, x2, y2) the box of image n, scaled and rounded to "
        "pixels, both ends included, as pooled_size bins that may share pixels: the largest "
        "element of each, and 0 where the image has none of it.",
        source="docstring of relax.op.vision.roi_pool; ONNX MaxRoiPool, which a comment in TOPI "
        "follows; torchvision.ops.roi_pool",
        operands=_OPERANDS,
        attributes=(
            Attribute("pooled_size", "ints"),
            Attribute("spatial_scale", "float"),
            Attribute("layout", "layout", "NCHW"),
        ),
        axes=_COMMON,
        apply=_roi_pool,
        numerics=Numerics.COPIES,
        requires=_REQUIRES,
        operand_fits=has_no_zero,
        faults=(
            argument_rank(_POOL, 0),
            argument_rank(_POOL, 1),
            argument_grown(_POOL, 1, kind="rois-columns", names=(*SHAPES, "rois")),
            attribute_is("layout-unknown", _POOL, "layout", "NHWC", RANKS),
        ),
    ),
)
