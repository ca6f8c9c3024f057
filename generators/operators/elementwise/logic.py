"""Truth values, of numbers and of truth values, and operations on bits."""

from relaxcheck.generators.core.axes import Point
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.fills.kinds import Below
from relaxcheck.generators.operators.choices import INTEGERS
from relaxcheck.generators.operators.elementwise.partners import SWAPPED, partner, partner_axes
from relaxcheck.generators.operators.faults import argument_grown
from relaxcheck.generators.operators.record import FLOATS, Apply, Numerics, Operand, Operator

_RANKS = (2, 0, 1, 3, 4)

BITS = (*INTEGERS, "int16", "uint16", "uint32")
"""The integer dtypes of operations on bits."""


def _call(name: str) -> Apply:
    def apply(draft: Draft, value: Value, _point: Point) -> None:
        draft.call(name, [value], value.shape)

    return apply


def _classed(name: str) -> Apply:
    def apply(draft: Draft, value: Value, _point: Point) -> None:
        draft.call(name, [draft.classed(value)], value.shape, "bool")

    return apply


def _record(
    name: str, meaning: str, dtypes: tuple[str, ...], source: str, apply: Apply
) -> Operator:
    return Operator(
        name,
        meaning=meaning,
        source=f"docstring of relax.op.{name}; {source}",
        operands=(Operand("x", ranks=_RANKS, dtypes=dtypes),),
        apply=apply,
        numerics=Numerics.COPIES,
    )


def _class(name: str, meaning: str) -> Operator:
    dtypes = (*FLOATS, *INTEGERS)
    return _record(name, meaning, dtypes, "IEEE 754-2019, 5.7.2", _classed(name))


_ALIKE: Point = {"rank": 2, "other": "alike", "other_constant": False}


def _combined(name: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        other, shape = partner(draft, value, point)
        draft.call(name, [other, value] if point["swapped"] else [value, other], shape)

    return apply


def _shifted(name: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        bits = int(value.dtype.lstrip("uint"))
        by, shape = partner(draft, value, point, Below(bits))
        draft.call(name, [value, by], shape)

    return apply


def _combination(name: str, meaning: str, dtypes: tuple[str, ...]) -> Operator:
    return Operator(
        name,
        meaning=f"{meaning} Operands broadcast as NumPy's do.",
        source=f"docstring of relax.op.{name}; torch.{name}",
        operands=(
            Operand("x1", ranks=_RANKS, dtypes=dtypes),
            Operand("x2", ranks=_RANKS, dtypes=dtypes),
        ),
        axes=(*partner_axes(), SWAPPED),
        apply=_combined(name),
        numerics=Numerics.COPIES,
        faults=(argument_grown(name, 1, pinned={**_ALIKE, "swapped": False}),),
    )


def _shift(name: str, meaning: str) -> Operator:
    return Operator(
        name,
        meaning=f"{meaning} Operands broadcast as NumPy's do.",
        source=f"docstring of relax.op.{name}; C, 6.5.7; MEANINGS.md, Elementwise",
        operands=(
            Operand("x1", ranks=_RANKS, dtypes=BITS),
            Operand("x2", ranks=_RANKS, dtypes=BITS),
        ),
        axes=partner_axes(itself=False),
        apply=_shifted(name),
        numerics=Numerics.COPIES,
        faults=(argument_grown(name, 1, pinned=_ALIKE),),
        requires="x2 from 0 to the number of bits of x1, exclusive",
    )


OPERATORS = (
    _class("isfinite", "True where x is neither infinite nor NaN."),
    _class("isinf", "True where x is an infinity of either sign."),
    _class("isnan", "True where x is NaN."),
    _record(
        "logical_not",
        "True where x is false.",
        ("bool",),
        "torch.logical_not",
        _call("logical_not"),
    ),
    _record(
        "bitwise_not",
        "Every bit of x turned.",
        (*BITS, "bool"),
        "torch.bitwise_not",
        _call("bitwise_not"),
    ),
    _combination("logical_and", "True where both are.", ("bool",)),
    _combination("logical_or", "True where either is.", ("bool",)),
    _combination("logical_xor", "True where they differ.", ("bool",)),
    _combination("bitwise_and", "The bits that both have.", (*BITS, "bool")),
    _combination("bitwise_or", "The bits that either has.", (*BITS, "bool")),
    _combination("bitwise_xor", "The bits in which they differ.", (*BITS, "bool")),
    _shift("left_shift", "x1 times 2 to the power x2, wrapping around."),
    _shift("right_shift", "x1 over 2 to the power x2, rounded towards negative infinity."),
)
