"""Regions of images, and boxes."""

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.drawn import Boxes, Ranked
from relaxcheck.generators.core.fills.kinds import Below, Regions
from relaxcheck.generators.onnx.choices import decimal, numbers, whole, word
from relaxcheck.generators.onnx.hint import Hint, attribute
from relaxcheck.generators.onnx.sketch import NONE, ONE, SIZE, Sketch

_SCALE = "spatial_scale"
_HEIGHT, _WIDTH = 6, 5


def _images(sketch: Sketch) -> tuple[Dim, Dim, Dim, Dim]:
    channels = sketch.symbol(1, 1 if sketch.point[SIZE] == ONE else 3)
    return 2, channels, sketch.symbol(2, _HEIGHT), sketch.symbol(3, _WIDTH)


def _regions(sketch: Sketch) -> Dim:
    """The number of regions, which are a batch of their own."""
    return sketch.symbol(0, 0 if sketch.point[SIZE] == NONE else 3)


def _align(sketch: Sketch) -> None:
    dtype, count = sketch.dtype("T1"), _regions(sketch)
    images = _images(sketch)
    # Sixteenths up to 17: a scale takes them into the image, or leaves most outside of it.
    boxes = sketch.data("rois", (count, 4), dtype, Boxes())
    sketch.node(
        sketch.data("x", images, dtype),
        boxes,
        sketch.data("places", (count,), "int64", Below(2)),
        mode=word(sketch, "mode"),
        output_height=whole(sketch, "output_height"),
        output_width=whole(sketch, "output_width"),
        sampling_ratio=whole(sketch, "sampling_ratio"),
        spatial_scale=decimal(sketch, _SCALE),
        coordinate_transformation_mode=word(sketch, "coordinate_transformation_mode"),
    )


def _pool(sketch: Sketch) -> None:
    boxes = sketch.data("rois", (_regions(sketch), 5), fill=Regions(2, 5))
    sketch.node(
        sketch.data("x", _images(sketch)),
        boxes,
        pooled_shape=numbers(sketch.text("pooled_shape")),
        spatial_scale=decimal(sketch, _SCALE),
    )


# Suppression

_FORM = "form"
_MOST, _OVERLAP, _SCORE = "max_output_boxes_per_class", "iou_threshold", "score_threshold"


def _suppress(sketch: Sketch) -> None:
    rows, classes = sketch.symbol(0, 2), sketch.symbol(1, 2)
    boxes = sketch.symbol(2, {ONE: 1, NONE: 0}.get(str(sketch.point[SIZE]), 6))
    by_center = sketch.point["center_point_box"] == 1
    # Centers and sides are sixteenths like corners, where all are positive.
    fill = Boxes() if by_center else Boxes(turned=sketch.point["corners"] == "any")
    names = [
        sketch.data("boxes", (rows, boxes, 4), "float32", fill),
        sketch.data("scores", (rows, classes, boxes), "float32", Ranked()),
        "",
        "",
        "",
    ]
    scalar = sketch.point[_FORM] == "scalar"
    if sketch.has(_MOST):
        most = whole(sketch, _MOST) or 0
        names[2] = sketch.literal("most", (most,), scalar=scalar)
    for at, name in ((3, _OVERLAP), (4, _SCORE)):
        number = decimal(sketch, name)
        if number is not None:
            names[at] = sketch.literal(name, (number,), "float32", scalar=scalar)
    sketch.node(*names, center_point_box=whole(sketch, "center_point_box"))


def _suppression() -> tuple[Axis, ...]:
    def cornered(point: Point, value: Value) -> bool:
        return value == "ordered" or point.get("center_point_box") != 1

    return (
        # Without it nothing is selected.
        Axis(_MOST, (3, None, 1, 0, 20), 3, default_weight=3),
        Axis(_OVERLAP, ("0.5", None, "0.2", "0", "1"), "0.5"),
        Axis(_SCORE, (None, "0.3", "0", "-1"), None),
        Axis(_FORM, ("vector", "scalar"), "vector"),
        attribute("NonMaxSuppression", "center_point_box", (0, 1)),
        Axis("corners", ("ordered", "any"), "ordered", cornered),
    )


HINTS = (
    Hint(
        "RoiAlign",
        _align,
        (
            attribute("RoiAlign", "mode", ("avg", "max")),
            attribute("RoiAlign", "output_height", (2, 1)),
            attribute("RoiAlign", "output_width", (3, 1)),
            attribute("RoiAlign", "sampling_ratio", (2, 0, 1)),
            attribute("RoiAlign", _SCALE, ("4", "0.5", "1")),
            attribute(
                "RoiAlign",
                "coordinate_transformation_mode",
                ("output_half_pixel", "half_pixel"),
            ),
        ),
        (),
        held=(),
    ),
    Hint(
        "MaxRoiPool",
        _pool,
        (
            attribute("MaxRoiPool", "pooled_shape", ("2, 2", "1, 1", "3, 2"), always=True),
            # These take few quarters to halves, whose rounding ONNX leaves open.
            attribute("MaxRoiPool", _SCALE, ("1", "1.25", "0.75")),
        ),
        (),
        held=(),
    ),
    Hint("NonMaxSuppression", _suppress, _suppression(), ()),
)
