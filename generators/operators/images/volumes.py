"""Interpolation of volumes."""

from collections.abc import Sequence
from math import prod

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value as Choice
from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.draft import Draft, Value, shape_value
from relaxcheck.generators.core.operand import DTYPE
from relaxcheck.generators.core.points import Given, text
from relaxcheck.generators.operators.choices import has_no_zero
from relaxcheck.generators.operators.faults import RANKS, attribute_is
from relaxcheck.generators.operators.record import Attribute, Numerics, Operand, Operator
from relaxcheck.generators.operators.sliding.image import MODES, resized, sampling

_NAME = "image.resize3d"

_ROUNDINGS = ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")

_OF_ONNX = (
    "linear asymmetric",
    "linear pytorch_half_pixel",
    *(
        f"nearest_neighbor {coordinates} {rounding}"
        for coordinates in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")
        for rounding in _ROUNDINGS
        if (coordinates, rounding) != ("asymmetric", "floor")
    ),
)
"""Method, coordinates and rounding that ONNX defines: ONNX Runtime has no kernel for float64."""


def _is_answered(dtype: Choice, mode: Choice) -> bool:
    return dtype != "float64" or mode not in _OF_ONNX


def _sampling(mode: str) -> dict[str, program.Attribute]:
    method, coordinates, *rounding = mode.split()
    if not rounding:
        return sampling(mode)
    return {
        "method": method,
        "coordinate_transformation_mode": coordinates,
        "rounding_method": rounding[0],
    }


_SIZES = ("same", "twice", "4", "1")
_WIDTHS = ("twice", "same", "three times", "4", "1")
_MOST = 1000
"""Elements of a volume, which is 12 times as large at most once it is resized."""


def _resize3d(draft: Draft, value: Value, point: Point) -> None:
    layout = text(point, "layout")
    spatial = tuple(layout.index(letter) for letter in "DHW")
    for at in spatial:
        draft.require(value.shape[at], 1)
    size = tuple(
        resized(text(point, name), value.shape[at])
        for at, name in zip(spatial, ("depth", "height", "width"), strict=True)
    )
    shape = list(value.shape)
    for at, dim in zip(spatial, size, strict=True):
        shape[at] = dim
    draft.call(
        _NAME,
        [value],
        shape,
        size=shape_value(size),
        layout=layout,
        **_sampling(text(point, "mode")),
    )


def _fits(shape: Sequence[Dim]) -> bool:
    static = [int(dim) for dim in shape if not symbols(dim)]
    return has_no_zero(shape[1:]) and prod(static) <= _MOST


OPERATORS = (
    Operator(
        _NAME,
        meaning="The volume at another depth, height and width: the nearest element, or the mean "
        "of eight weighted by distance, clamped to the edges.",
        source="docstrings of relax.op.image.resize3d and topi.image.resize3d; MEANINGS.md, "
        "Images sampled at computed places",
        operands=(Operand("data", ranks=(5,)),),
        attributes=(
            Attribute("size", "shape"),
            Attribute("roi", "ints", None),
            Attribute("layout", "layout", "NCDHW"),
            Attribute("method", "text", "linear"),
            Attribute("coordinate_transformation_mode", "text", "half_pixel"),
            Attribute("rounding_method", "text", ""),
            Attribute("cubic_alpha", "float", -0.75),
            Attribute("cubic_exclude", "int", 0),
            Attribute("extrapolation_value", "float", 0.0),
            Attribute("out_dtype", "dtype", None),
        ),
        axes=(
            Axis("mode", (*MODES, *_OF_ONNX), MODES[0], Given((DTYPE,), _is_answered)),
            Axis("layout", ("NCDHW", "NDHWC"), "NCDHW"),
            *(Axis(name, _SIZES, "same") for name in ("depth", "height")),
            Axis("width", _WIDTHS, "twice"),
        ),
        apply=_resize3d,
        numerics=Numerics.APPROXIMATES,
        requires="an element along each spatial axis, before and after",
        operand_fits=_fits,
        faults=(
            attribute_is("method-unknown", _NAME, "method", "sideways"),
            attribute_is("layout-unknown", _NAME, "layout", "NXDHW", RANKS),
            attribute_is("size-length", _NAME, "size", (2, 2), ("shape",)),
        ),
    ),
)
