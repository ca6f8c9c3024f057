"""Interpolation of images."""

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value, shape_value
from relaxcheck.generators.core.points import text
from relaxcheck.generators.core.polynomials import times
from relaxcheck.generators.operators.faults import RANKS, attribute_is
from relaxcheck.generators.operators.record import Attribute, Numerics, Operand, Operator
from relaxcheck.generators.operators.sliding.windows import spatial_fits

MODES = (
    "linear half_pixel",
    "linear align_corners",
    "nearest_neighbor asymmetric",
)
"""Method and coordinates: those that all frameworks define alike."""

_SIZES = ("twice", "same", "three times", "4", "1")


def resized(choice: str, dim: Dim) -> Dim:
    """The size that ``choice`` makes of ``dim``: "same", "twice", "three times", or a number."""
    match choice:
        case "same":
            return dim
        case "twice":
            return times(2, dim)
        case "three times":
            return times(3, dim)
    return int(choice)


def sampling(mode: str) -> dict[str, program.Attribute]:
    """The attributes of one of ``MODES``."""
    method, _, coordinates = mode.partition(" ")
    attributes: dict[str, program.Attribute] = {
        "method": method,
        "coordinate_transformation_mode": coordinates,
    }
    return attributes | ({"rounding_method": "floor"} if method == "nearest_neighbor" else {})


def _resize2d(draft: Draft, value: Value, point: Point) -> None:
    for dim in value.shape[2:]:
        draft.require(dim, 1)
    out = tuple(
        resized(text(point, name), dim)
        for dim, name in zip(value.shape[2:], ("height", "width"), strict=True)
    )
    draft.call(
        "image.resize2d",
        [value],
        (*value.shape[:2], *out),
        size=shape_value(out),
        **sampling(text(point, "mode")),
    )


OPERATORS = (
    Operator(
        "image.resize2d",
        meaning="The image at another height and width: the nearest element, or the mean of four "
        "weighted by distance, clamped to the edges.",
        source="docstring of relax.op.image.resize2d; MEANINGS.md, Convolution, pooling, "
        "interpolation",
        operands=(Operand("data", ranks=(4,)),),
        attributes=(
            Attribute("size", "shape"),
            Attribute("roi", "ints", None),
            Attribute("layout", "layout", "NCHW"),
            Attribute("method", "text", "linear"),
            Attribute("coordinate_transformation_mode", "text", "half_pixel"),
            Attribute("rounding_method", "text", "round"),
            Attribute("cubic_alpha", "float", -0.75),
            Attribute("cubic_exclude", "int", 0),
            Attribute("extrapolation_value", "float", 0.0),
            Attribute("out_dtype", "dtype", None),
        ),
        axes=(
            Axis("mode", MODES, MODES[0]),
            Axis("height", _SIZES, "twice"),
            Axis("width", _SIZES, "twice"),
        ),
        apply=_resize2d,
        numerics=Numerics.APPROXIMATES,
        requires="an element along each spatial axis, before and after",
        operand_fits=spatial_fits,
        faults=(
            attribute_is("method-unknown", "image.resize2d", "method", "sideways"),
            attribute_is("layout-unknown", "image.resize2d", "layout", "NXHW", RANKS),
            attribute_is("size-length", "image.resize2d", "size", (2, 2, 2), ("shape",)),
        ),
    ),
)
