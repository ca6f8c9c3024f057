"""Interpolation of images and volumes."""

from collections.abc import Sequence
from math import prod

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value as Choice
from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.draft import Draft, Value, shape_value
from relaxcheck.generators.core.operand import DTYPE
from relaxcheck.generators.core.points import Given, text
from relaxcheck.generators.core.polynomials import times
from relaxcheck.generators.operators.faults import RANKS, attribute_is
from relaxcheck.generators.operators.record import Attribute, Numerics, Operand, Operator
from relaxcheck.generators.operators.sliding.windows import spatial_fits

_IMAGE, _VOLUME = "image.resize2d", "image.resize3d"

_ROUNDINGS = ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")

_COORDINATES = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")

_USUAL = ("linear half_pixel", "linear align_corners", "nearest_neighbor asymmetric floor")
"""Method, coordinates and rounding: those that all frameworks define alike."""

_OF_ONNX = (
    "linear asymmetric",
    "linear pytorch_half_pixel",
    *(
        f"nearest_neighbor {coordinates} {rounding}"
        for coordinates in _COORDINATES
        for rounding in _ROUNDINGS
        if (coordinates, rounding) != ("asymmetric", "floor")
    ),
)
"""Those that ONNX defines: ONNX Runtime has no kernel for float64."""

_CUBIC = tuple(f"cubic {coordinates}" for coordinates in _COORDINATES)
_OF_PYTORCH = ("cubic half_pixel", "cubic align_corners")

_ALPHA = -0.75
"""Of the cubic convolution, if nothing is said: ONNX's and PyTorch's."""


def _is_answered(dtype: Choice, mode: Choice) -> bool:
    return dtype != "float64" or mode in (*_USUAL, *_OF_PYTORCH)


def _is_convolved(dtype: Choice, mode: Choice, kernel: Choice) -> bool:
    """True if some oracle has the ``kernel``: PyTorch has the usual one alone."""
    if kernel == "usual":
        return True
    return str(mode).startswith("cubic") and dtype != "float64"


def _sampling(point: Point) -> dict[str, program.Attribute]:
    method, coordinates, *rounding = text(point, "mode").split()
    attributes: dict[str, program.Attribute] = {
        "method": method,
        "coordinate_transformation_mode": coordinates,
    }
    if rounding:
        attributes["rounding_method"] = rounding[0]
    match point["kernel"]:
        case "alpha":
            attributes["cubic_alpha"] = -0.5
        case "inside alone":
            attributes["cubic_exclude"] = 1
    return attributes


_SIZES = ("twice", "same", "three times", "4", "1")
_SIZES_OF_VOLUMES = ("same", "twice", "4", "1")
_MOST = 1000
"""Elements of a volume, which is 12 times as large at most once it is resized."""


def _resized(choice: str, dim: Dim) -> Dim:
    """The size that ``choice`` makes of ``dim``: "same", "twice", "three times", or a number."""
    match choice:
        case "same":
            return dim
        case "twice":
            return times(2, dim)
        case "three times":
            return times(3, dim)
    return int(choice)


def _resize(draft: Draft, value: Value, point: Point) -> None:
    layout = text(point, "layout")
    named = {
        layout.index(letter): name
        for letter, name in (("D", "depth"), ("H", "height"), ("W", "width"))
        if letter in layout
    }
    for at in named:
        draft.require(value.shape[at], 1)
    shape = list(value.shape)
    for at, name in named.items():
        shape[at] = _resized(text(point, name), value.shape[at])
    draft.call(
        _IMAGE if len(named) == 2 else _VOLUME,
        [value],
        shape,
        size=shape_value([shape[at] for at in named]),
        layout=layout,
        **_sampling(point),
    )


def _fits_volume(shape: Sequence[Dim]) -> bool:
    static = [int(dim) for dim in shape if not symbols(dim)]
    return spatial_fits(shape) and prod(static) <= _MOST


def _attributes(layout: str, rounding: str) -> tuple[Attribute, ...]:
    return (
        Attribute("size", "shape"),
        Attribute("roi", "ints", None),
        Attribute("layout", "layout", layout),
        Attribute("method", "text", "linear"),
        Attribute("coordinate_transformation_mode", "text", "half_pixel"),
        Attribute("rounding_method", "text", rounding),
        Attribute("cubic_alpha", "float", _ALPHA),
        Attribute("cubic_exclude", "int", 0),
        Attribute("extrapolation_value", "float", 0.0),
        Attribute("out_dtype", "dtype", None),
    )


_WAYS = (
    Axis("mode", (*_USUAL, *_OF_ONNX, *_CUBIC), _USUAL[0], Given((DTYPE,), _is_answered)),
    Axis(
        "kernel",
        ("usual", "alpha", "inside alone"),
        "usual",
        Given((DTYPE, "mode"), _is_convolved),
    ),
)

_REQUIRES = "an element along each spatial axis, before and after"

OPERATORS = (
    Operator(
        _IMAGE,
        meaning="The image at another height and width: the nearest element, the mean of four "
        "weighted by distance, or a cubic convolution of sixteen; elements beyond an edge are "
        "those at it.",
        source="docstrings of relax.op.image.resize2d and topi.image.resize2d; ONNX Resize; "
        "MEANINGS.md, Convolution, pooling, interpolation",
        operands=(Operand("data", ranks=(4,)),),
        attributes=_attributes("NCHW", "round"),
        axes=(
            *_WAYS,
            Axis("layout", ("NCHW", "NHWC"), "NCHW"),
            Axis("height", _SIZES, "twice"),
            Axis("width", _SIZES, "twice"),
        ),
        apply=_resize,
        numerics=Numerics.APPROXIMATES,
        requires=_REQUIRES,
        operand_fits=spatial_fits,
        faults=(
            attribute_is("method-unknown", _IMAGE, "method", "sideways"),
            attribute_is("layout-unknown", _IMAGE, "layout", "NXHW", RANKS),
            attribute_is("size-length", _IMAGE, "size", (2, 2, 2), ("shape",)),
        ),
    ),
    Operator(
        _VOLUME,
        meaning="The volume at another depth, height and width: the nearest element, the mean of "
        "eight weighted by distance, or a cubic convolution of 64; elements beyond an edge are "
        "those at it.",
        source="docstrings of relax.op.image.resize3d and topi.image.resize3d; ONNX Resize; "
        "MEANINGS.md, Convolution, pooling, interpolation",
        operands=(Operand("data", ranks=(5,)),),
        attributes=_attributes("NCDHW", ""),
        axes=(
            *_WAYS,
            Axis("layout", ("NCDHW", "NDHWC"), "NCDHW"),
            *(Axis(name, _SIZES_OF_VOLUMES, "same") for name in ("depth", "height")),
            Axis("width", _SIZES, "twice"),
        ),
        apply=_resize,
        numerics=Numerics.APPROXIMATES,
        requires=_REQUIRES,
        operand_fits=_fits_volume,
        faults=(
            attribute_is("method-unknown", _VOLUME, "method", "sideways"),
            attribute_is("layout-unknown", _VOLUME, "layout", "NXDHW", RANKS),
            attribute_is("size-length", _VOLUME, "size", (2, 2), ("shape",)),
        ),
    ),
)
