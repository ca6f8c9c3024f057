"""The parametric rectified linear unit: a slope for each channel."""

from collections.abc import Sequence

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.draft import Draft, Unfit, Value
from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.operand import RANK, FitsDims
from relaxcheck.generators.core.points import Given, integer, text
from relaxcheck.generators.operators.faults import (
    argument_dtype,
    argument_grown,
    argument_rank,
    axis_out_of_range,
)
from relaxcheck.generators.operators.record import Attribute, Numerics, Operand, Operator

_NAME = "nn.prelu"

_AXIS = 1
"""The default of the attribute ``axis``."""

_SLOPES = {"zero": 0.0, "negative": -0.5}
"""Slopes that every channel shares, as constants."""


def _inside(rank: int, axis: int | None) -> bool:
    at = _AXIS if axis is None else axis
    return -rank <= at < rank


def _known(shape: Sequence[Dim], axis: int | None, alpha: str) -> bool:
    """Return True where ``alpha`` may be a constant: its size is a number."""
    return alpha == "run-time" or not symbols(shape[_AXIS if axis is None else axis])


def _prelu(draft: Draft, value: Value, point: Point) -> None:
    attributes: dict[str, program.Attribute] = {}
    axis = _AXIS
    if point["axis"] is not None:
        attributes["axis"] = axis = integer(point, "axis")
    channels = value.shape[axis]
    form = text(point, "alpha")
    if form in _SLOPES:
        if symbols(channels):
            raise Unfit("constant slopes of a symbolic number of channels")
        fill = Literal((_SLOPES[form],) * int(channels))
        alpha = draft.operand((channels,), value.dtype, fill=fill, constant=True)
    else:
        alpha = draft.operand((channels,), value.dtype, constant=form == "constant")
    draft.call(_NAME, [value, alpha], value.shape, **attributes)


_RUN_TIME: Point = {"alpha": "run-time"}

_CHANNELS: Point = {**_RUN_TIME, "rank": 3, "axis": 1}
"""Three channels in the middle: no other dimension of the data has that size."""

OPERATORS = (
    Operator(
        _NAME,
        meaning="data where it is above 0, alpha * data elsewhere; alpha has one element for each "
        "place along the axis.",
        source="docstring of relax.op.nn.prelu; torch.nn.functional.prelu; ONNX PRelu",
        operands=(Operand("data", ranks=(2, 1, 3, 4)), Operand("alpha", ranks=(1,))),
        attributes=(Attribute("axis", "axis", _AXIS),),
        axes=(
            Axis("axis", (None, 1, 0, -1, 2, 3, -2, -3, -4), None, Given((RANK,), _inside)),
            Axis(
                "alpha",
                ("run-time", "constant", *_SLOPES),
                "run-time",
                FitsDims(_known, ("axis",)),
                default_weight=2,
            ),
        ),
        apply=_prelu,
        numerics=Numerics.ROUNDS,
        faults=(
            axis_out_of_range(_NAME),
            argument_grown(_NAME, 1, kind="alpha-differs", pinned=_CHANNELS),
            argument_rank(_NAME, 1, kind="rank-of-alpha", pinned=_CHANNELS),
            argument_dtype(_NAME, 1, "float64", pinned=_RUN_TIME),
        ),
    ),
)
