"""Padding."""

from collections.abc import Sequence

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.operand import Fits, at_least
from relaxcheck.generators.core.points import Given, integer, text
from relaxcheck.generators.core.polynomials import plus
from relaxcheck.generators.operators.choices import decimal
from relaxcheck.generators.operators.faults import attribute_is
from relaxcheck.generators.operators.record import FLOATS, Attribute, Numerics, Operand, Operator


def _least(mode: str, width: int) -> int:
    """The elements that an axis needs to be padded by ``width``."""
    return {"reflect": width + 1, "circular": width, "replicate": 1}.get(mode, 0)


def _padded_axis(shape: Sequence[Dim], mode: str, axis: int) -> bool:
    """Only constants pad other axes than the last."""
    if mode == "constant":
        return -len(shape) <= axis < len(shape)
    return axis == -1 and at_least(shape[-1], _least(mode, 0))


def _width(shape: Sequence[Dim], mode: str, axis: int, width: int) -> bool:
    return at_least(shape[axis], _least(mode, width))


def _pad(draft: Draft, value: Value, point: Point) -> None:
    mode, axis = text(point, "pad_mode"), integer(point, "axis") % value.rank
    before, after = integer(point, "before"), integer(point, "after")
    draft.require(value.shape[axis], _least(mode, max(before, after)))
    width, shape = [0] * (2 * value.rank), list(value.shape)
    width[2 * axis : 2 * axis + 2] = before, after
    shape[axis] = plus(shape[axis], before + after)
    if point["all_axes"]:
        for at in range(value.rank):
            if at != axis:
                width[2 * at + 1] = 1
                shape[at] = plus(shape[at], 1)
    attributes: dict[str, program.Attribute] = decimal(point, "pad_value")
    draft.call("nn.pad", [value], shape, pad_width=tuple(width), pad_mode=mode, **attributes)


def _only_constant(mode: str, value: str | bool | None) -> bool:
    return mode == "constant" or not value


OPERATORS = (
    Operator(
        "nn.pad",
        meaning="The operand with elements before and after along its axes: a number, or its own "
        "elements mirrored without the edge (reflect), the edge's (replicate), or those of the "
        "other end (circular).",
        source="docstring of relax.op.nn.pad; torch.nn.functional.pad",
        operands=(Operand("data", ranks=(2, 1, 3, 4), dtypes=(*FLOATS, "int32", "int8")),),
        attributes=(
            Attribute("pad_width", "ints"),
            Attribute("pad_mode", "text", "constant"),
            Attribute("pad_value", "float", 0.0),
        ),
        axes=(
            Axis(
                "pad_mode",
                ("constant", "reflect", "replicate", "circular"),
                "constant",
                Fits(
                    lambda shape, mode: mode == "constant" or at_least(shape[-1], _least(mode, 0))
                ),
            ),
            Axis("axis", (-1, 0, 1, 2), -1, Fits(_padded_axis, ("pad_mode",))),
            Axis("before", (1, 0, 2, 3), 1, Fits(_width, ("pad_mode", "axis"))),
            Axis("after", (1, 0, 2, 3), 1, Fits(_width, ("pad_mode", "axis"))),
            Axis("all_axes", (False, True), False, Given(("pad_mode",), _only_constant)),
            Axis("pad_value", (None, "1", "-2"), None, Given(("pad_mode",), _only_constant)),
        ),
        apply=_pad,
        faults=(
            attribute_is("width-length", "nn.pad", "pad_width", (1,), ("pad", "width")),
            attribute_is("mode-unknown", "nn.pad", "pad_mode", "sideways", ("mode",)),
        ),
        numerics=Numerics.COPIES,
        requires="along the axis: more elements than reflect adds, as many as circular adds, one "
        "for replicate",
    ),
)
