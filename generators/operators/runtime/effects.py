"""Calls for their effect, beside a computation that must not change.

A node of one stands for its last operand, so that it has its place in the program's order.
"""

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.faults import Fault, with_dtype, with_shape
from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.points import Given, text
from relaxcheck.generators.operators.faults import argument
from relaxcheck.generators.operators.record import Attribute, Numerics, Operand, Operator
from relaxcheck.generators.operators.shape import DTYPES

_RANKS = (2, 1, 3, 4)

_VALUED = ("seen: {}", "{0}")
"""Formats of one value."""

_FORMATS = ("", *_VALUED, "{{}}", "no value")


def _format(point: Point) -> dict[str, str]:
    return {"format": text(point, "format")} if point["format"] else {}


def _print(draft: Draft, value: Value, point: Point) -> None:
    values = [value]
    if point["values"] != "input":
        computed = draft.call("permute_dims", [value], value.shape[::-1])
        values = [value, computed] if point["values"] == "both" else [computed]
    shown = values[-1]
    seen = draft.call("print", values, shown.shape, shown.dtype, **_format(point))
    draft.call("permute_dims", [seen], seen.shape[::-1])


def _assert_op(draft: Draft, value: Value, point: Point) -> None:
    if point["condition"] == "computed":
        wrong = draft.operand((), "bool", fill=Literal((0,)))
        condition = draft.call("logical_not", [wrong], ())
    else:
        constant = point["condition"] == "constant"
        condition = draft.operand((), "bool", fill=Literal((1,)), constant=constant)
    if point["values"] == "computed":
        value = draft.call("permute_dims", [value], value.shape[::-1])
    operands = [condition] if point["values"] == "none" else [condition, value]
    last = operands[-1]
    held = draft.call("assert_op", operands, last.shape, last.dtype, **_format(point))
    after = value if point["values"] == "none" else held
    draft.call("permute_dims", [after], after.shape[::-1])


_INPUT: Point = {"condition": "input"}

_CONDITION = ("condition", "boolean", "scalar")

OPERATORS = (
    Operator(
        "print",
        meaning="Values written to the standard output; the program's results stay as they are.",
        source="docstring of relax.op.print",
        operands=(Operand("values", ranks=_RANKS, dtypes=DTYPES, many=True, apart=True),),
        attributes=(Attribute("format", "text", ""),),
        axes=(
            Axis("format", _FORMATS, ""),
            Axis("values", ("input", "computed", "both"), "input"),
        ),
        apply=_print,
        numerics=Numerics.COPIES,
        effect=True,
        alone=True,
    ),
    Operator(
        "assert_op",
        meaning="An error where the condition is false, with the formatted values as its message; "
        "otherwise nothing.",
        source="docstrings of relax.op.assert_op and of relax_assert_op, beside it",
        operands=(
            Operand("condition", ranks=(0,), dtypes=("bool",)),
            Operand("format_args", ranks=_RANKS, dtypes=DTYPES, optional=True, many=True),
        ),
        like=Operand("format_args", ranks=_RANKS, dtypes=DTYPES),
        attributes=(Attribute("format", "text", ""),),
        axes=(
            Axis("condition", ("input", "constant", "computed"), "input"),
            Axis("values", ("input", "computed", "none"), "input"),
            Axis(
                "format",
                _FORMATS,
                "",
                Given(("values",), lambda values, form: values != "none" or form not in _VALUED),
            ),
        ),
        apply=_assert_op,
        numerics=Numerics.COPIES,
        requires="a condition that is true",
        faults=(
            Fault(
                "condition-dtype",
                _CONDITION,
                lambda program, _: with_dtype(program, argument(program, "assert_op", 0), "int32"),
                _INPUT,
            ),
            Fault(
                "condition-rank",
                _CONDITION,
                lambda program, _: with_shape(
                    program, argument(program, "assert_op", 0), lambda shape: (1, *shape)
                ),
                _INPUT,
            ),
        ),
        effect=True,
        alone=True,
    ),
)
