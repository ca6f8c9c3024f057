"""Operators that write slices, and that reverse the beginnings of sequences."""

from collections.abc import Sequence

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.draft import Draft, Value, shape_value
from relaxcheck.generators.core.fills.kinds import Below
from relaxcheck.generators.core.operand import Fits, at_least
from relaxcheck.generators.core.points import integer, text
from relaxcheck.generators.core.polynomials import minus, over, plus
from relaxcheck.generators.operators.choices import axis_choice, replaced
from relaxcheck.generators.operators.faults import (
    argument_dtype,
    attribute_is,
    axis_out_of_range,
)
from relaxcheck.generators.operators.record import Attribute, Numerics, Operand, Operator
from relaxcheck.generators.operators.shape import DTYPES

_DTYPES = DTYPES[:-1]


def _slice_scatter(draft: Draft, value: Value, point: Point) -> None:
    axis, start, step = (integer(point, name) for name in ("axis", "start", "step"))
    at = axis % value.rank
    dim = value.shape[at]
    end = dim if point["end"] == "size" else minus(dim, 1)
    span = minus(end, start)
    draft.require(span, 1)
    source = draft.operand(replaced(value.shape, at, over(plus(span, step - 1), step)), value.dtype)
    attributes: dict[str, program.Attribute] = {
        "start": start,
        "end": shape_value((end,)) if symbols(end) else int(end),
        "step": step,
        "axis": axis,
    }
    draft.call("slice_scatter", [value, source], value.shape, **attributes)


def _has_a_slice(shape: Sequence[Dim], axis: int, start: int, end: str) -> bool:
    return at_least(shape[axis], start + (1 if end == "size" else 2))


def _reverse_sequence(draft: Draft, value: Value, point: Point) -> None:
    along, batch = integer(point, "seq_axis"), integer(point, "batch_axis")
    lengths = draft.operand(
        (value.shape[batch],),
        text(point, "length_dtype"),
        fill=Below(plus(value.shape[along], 1)),
    )
    draft.call("reverse_sequence", [value, lengths], value.shape, seq_axis=along, batch_axis=batch)


def _differ(shape: Sequence[Dim], along: int, batch: int) -> bool:
    rank = len(shape)
    return -rank <= batch < rank and batch % rank != along % rank


OPERATORS = (
    Operator(
        "slice_scatter",
        meaning="The tensor with input[start:end:step] along an axis replaced by src.",
        source="docstring of relax.op.slice_scatter; torch.slice_scatter",
        operands=tuple(
            Operand(name, ranks=(2, 1, 3), dtypes=_DTYPES) for name in ("input_tensor", "src")
        ),
        attributes=(
            Attribute("start", "extent"),
            Attribute("end", "extent"),
            Attribute("step", "extent"),
            Attribute("axis", "axis", 0),
        ),
        axes=(
            Axis(
                "axis",
                (0, -1, 1, 2, -2, -3),
                0,
                Fits(
                    lambda shape, axis: (
                        -len(shape) <= axis < len(shape) and at_least(shape[axis], 1)
                    )
                ),
            ),
            Axis(
                "start",
                (0, 1),
                0,
                Fits(lambda shape, axis, n: at_least(shape[axis], n + 1), ("axis",)),
            ),
            Axis("end", ("size", "but the last"), "size", Fits(_has_a_slice, ("axis", "start"))),
            Axis("step", (1, 2, 3), 1),
        ),
        apply=_slice_scatter,
        numerics=Numerics.COPIES,
        requires="at least one element in the slice, and as many in src",
        operand_fits=lambda shape: any(at_least(dim, 1) for dim in shape),
        faults=(
            axis_out_of_range("slice_scatter"),
            attribute_is("step-zero", "slice_scatter", "step", 0),
        ),
    ),
    Operator(
        "reverse_sequence",
        meaning="For each place on the batch axis, the first so many elements along seq_axis in "
        "reverse order, and the others as they are.",
        source="docstring of relax.op.reverse_sequence; ONNX ReverseSequence",
        operands=(
            Operand("data", ranks=(2, 3, 4), dtypes=_DTYPES),
            Operand("seq_lengths", ranks=(1,), dtypes=("int64", "int32")),
        ),
        attributes=(Attribute("seq_axis", "axis", 1), Attribute("batch_axis", "axis", 0)),
        axes=(
            axis_choice("seq_axis", 1),
            Axis("batch_axis", (0, 1, -1, 2, -2), 0, Fits(_differ, ("seq_axis",))),
            Axis("length_dtype", ("int64", "int32"), "int64"),
        ),
        apply=_reverse_sequence,
        numerics=Numerics.COPIES,
        requires="lengths from 0 to the size of seq_axis",
        faults=(
            axis_out_of_range("reverse_sequence", "seq_axis"),
            axis_out_of_range("reverse_sequence", "batch_axis"),
            argument_dtype("reverse_sequence", 1, "float32", kind="lengths-dtype"),
        ),
    ),
)
