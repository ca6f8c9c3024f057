"""Images sampled at the places of a grid."""

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.fills.kinds import Steps
from relaxcheck.generators.core.operand import RANK
from relaxcheck.generators.core.points import Given, text
from relaxcheck.generators.operators.choices import extent, extent_choice, has_no_zero
from relaxcheck.generators.operators.faults import RANKS, attribute_is
from relaxcheck.generators.operators.record import Attribute, Numerics, Operand, Operator

_NAME = "image.grid_sample"

_PARTS, _REACH = 32, 48
"""Coordinates are 32nds from -1.5 to 1.5, so that float32 holds what is computed of them."""


def _grid_sample(draft: Draft, value: Value, point: Point) -> None:
    for dim in value.shape[2:]:
        draft.require(dim, 1)
    spatial = value.rank - 2
    size: tuple[Dim, ...] = (
        *(2,) * (spatial - 2),
        extent(draft, value, point, "rows"),
        extent(draft, value, point, "columns"),
    )
    grid = draft.operand((value.shape[0], spatial, *size), value.dtype, fill=Steps(_PARTS, _REACH))
    attributes: dict[str, program.Attribute] = {} if spatial == 2 else {"layout": "NCDHW"}
    draft.call(
        _NAME,
        [value, grid],
        (*value.shape[:2], *size),
        method=text(point, "method"),
        padding_mode=text(point, "padding_mode"),
        align_corners=bool(point["align_corners"]),
        **attributes,
    )


OPERATORS = (
    Operator(
        _NAME,
        meaning="Element of the image at each place of the grid, whose coordinates x, y and z are "
        "its axis 1: from -1 to 1 between the centres of the outermost elements if corners are "
        "aligned, else between their outer edges. It is the nearest element, halves to even; the "
        "mean of those around, weighted by distance; or a cubic convolution of alpha -0.75. "
        "Elements outside are 0, or the coordinate is clamped, or reflected.",
        source="docstrings of relax.op.image.grid_sample and topi.image.grid_sample; "
        "torch.nn.functional.grid_sample; ONNX GridSample",
        operands=(Operand("data", ranks=(4, 5)), Operand("grid", ranks=(4, 5))),
        attributes=(
            Attribute("method", "text", "bilinear"),
            Attribute("layout", "layout", "NCHW"),
            Attribute("padding_mode", "text", "zeros"),
            Attribute("align_corners", "bool", False),
        ),
        axes=(
            Axis(
                "method",
                ("bilinear", "nearest", "bicubic"),
                "bilinear",
                Given((RANK,), lambda rank, method: method != "bicubic" or rank == 4),
            ),
            Axis("padding_mode", ("zeros", "border", "reflection"), "zeros"),
            Axis("align_corners", (False, True), False),
            extent_choice("rows", (3, 1, 7, "symbol", 0)),
            extent_choice("columns", (4, 1, 17, "symbol", "last")),
        ),
        apply=_grid_sample,
        numerics=Numerics.ACCUMULATES,
        requires="an element along each axis but the first",
        operand_fits=lambda shape: has_no_zero(shape[1:]),
        faults=(
            attribute_is("method-unknown", _NAME, "method", "sideways"),
            attribute_is("padding-unknown", _NAME, "padding_mode", "sideways"),
            attribute_is("layout-unknown", _NAME, "layout", "NXHW", RANKS),
        ),
    ),
)
