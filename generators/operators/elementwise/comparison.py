"""Comparisons, and the choice between two operands by a condition."""

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.operand import FitsDims
from relaxcheck.generators.core.points import text
from relaxcheck.generators.operators.choices import INTEGERS
from relaxcheck.generators.operators.elementwise.partners import SWAPPED, partner, partner_axes
from relaxcheck.generators.operators.faults import PLAIN, argument_dtype, argument_grown
from relaxcheck.generators.operators.record import FLOATS, Apply, Numerics, Operand, Operator

_RANKS = (2, 0, 1, 3, 4)
_DTYPES = (*FLOATS, *INTEGERS)


def _call(name: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        other, shape = partner(draft, value, point)
        draft.call(name, [other, value] if point["swapped"] else [value, other], shape, "bool")

    return apply


def _where(draft: Draft, value: Value, point: Point) -> None:
    shapes = {
        "alike": value.shape,
        "rank zero": (),
        "thin first": (1, *value.shape[1:]),
        "thin last": (*value.shape[:-1], 1),
    }
    condition = draft.operand(shapes[text(point, "condition")], "bool")
    other, shape = partner(draft, value, point)
    both = [other, value] if point["swapped"] else [value, other]
    draft.call("where", [condition, *both], shape, value.dtype)


_ALIKE: Point = {"rank": 2, "other": "alike", "other_constant": False, "swapped": False}


_ALL_ALIKE: Point = {**_ALIKE, "condition": "alike"}


def _record(name: str, sign: str) -> Operator:
    return Operator(
        name,
        meaning=f"True where x1 {sign} x2, element by element; operands broadcast as in NumPy.",
        source=f"docstring of relax.op.{name}; IEEE 754-2019 5.11",
        operands=(
            Operand("x1", ranks=_RANKS, dtypes=_DTYPES),
            Operand("x2", ranks=_RANKS, dtypes=_DTYPES),
        ),
        axes=(*partner_axes(), SWAPPED),
        apply=_call(name),
        numerics=Numerics.COPIES,
        faults=(argument_grown(name, 1, pinned=_ALIKE),),
    )


OPERATORS = (
    _record("equal", "=="),
    _record("not_equal", "!="),
    _record("less", "<"),
    _record("less_equal", "<="),
    _record("greater", ">"),
    _record("greater_equal", ">="),
    Operator(
        "where",
        meaning="x1 where the condition holds, x2 elsewhere; all three broadcast as NumPy's do.",
        source="docstring of relax.op.where; torch.where",
        operands=(
            Operand("condition", ranks=_RANKS, dtypes=("bool",)),
            Operand("x1", ranks=_RANKS, dtypes=(*FLOATS, "int32", "int8")),
            Operand("x2", ranks=_RANKS, dtypes=(*FLOATS, "int32", "int8")),
        ),
        at_hand=1,
        axes=(
            Axis(
                "condition",
                ("alike", "rank zero", "thin first", "thin last"),
                "alike",
                FitsDims(
                    lambda shape, form: (
                        form in ("alike", "rank zero")
                        or (
                            len(shape) > (form == "thin last")
                            and shape[-(form == "thin last")] != 1
                        )
                    )
                ),
            ),
            *partner_axes(),
            SWAPPED,
        ),
        apply=_where,
        numerics=Numerics.COPIES,
        faults=(
            argument_grown("where", 2, pinned={**_ALIKE, "condition": "alike"}),
            argument_grown(
                "where", 0, kind="condition-differs", pinned={**_ALIKE, "condition": "alike"}
            ),
            argument_dtype("where", 0, "float32", kind="condition-dtype", pinned=PLAIN),
        ),
    ),
)
