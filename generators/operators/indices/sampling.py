"""Samples from distributions, drawn by numbers that are there already."""

from collections.abc import Sequence

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.faults import Fault, with_shape
from relaxcheck.generators.core.fills.drawn import BetweenParts, Distribution
from relaxcheck.generators.core.fills.kinds import Below
from relaxcheck.generators.core.operand import DTYPE
from relaxcheck.generators.core.points import bindings, integer, text, toggle
from relaxcheck.generators.core.program import Program
from relaxcheck.generators.operators.faults import RANKS, SHAPES, argument_dtype, argument_rank
from relaxcheck.generators.operators.record import (
    FLOATS,
    Attribute,
    Numerics,
    Operand,
    Operator,
    OwnOperand,
)

_NAME = "multinomial_from_uniform"
_INTEGERS = ("int64", "int32")

_SIZES = {"rows": (2, 1, 3), "items": (5, 1, 2, 3, 17, 129), "samples": (4, 1, 0, 7)}
"""Numbers of distributions, of what each chooses among, and of samples."""

_SYMBOLS = {"rows": "B", "items": "V", "samples": "N"}

_LATER = {"rows": (1, 3, 5, 2), "items": (1, 8, 300, 2), "samples": (1, 0, 9, 3)}
"""Sizes that a symbol is bound to after its own."""

_STATIC: Point = {f"symbolic.{name}": False for name in _SIZES}


def _dim(point: Point, name: str) -> Dim:
    return _SYMBOLS[name] if point[f"symbolic.{name}"] else integer(point, name)


def _start(draft: Draft, point: Point) -> Value:
    shape = (_dim(point, "rows"), _dim(point, "items"))
    return draft.input(shape, text(point, DTYPE), name="prob", fill=Distribution())


def _bindings(point: Point) -> tuple[dict[str, int], ...]:
    columns: dict[str, Sequence[int]] = {
        symbol: (integer(point, name), *_LATER[name])
        for name, symbol in _SYMBOLS.items()
        if point[f"symbolic.{name}"]
    }
    return bindings(columns)


def _sampled(draft: Draft, prob: Value, point: Point) -> None:
    shape = (_dim(point, "samples"), 1)
    kind = text(point, "sample_dtype")
    sample = draft.input(
        shape, prob.dtype if kind == "same" else kind, name="uniform_sample", fill=BetweenParts()
    )
    rows = draft.input(
        shape, text(point, "index_dtype"), name="sample_indices", fill=Below(prob.shape[0])
    )
    dtype = text(point, "out_dtype")
    draft.call(_NAME, [prob, sample, rows], shape, dtype, dtype=dtype)


def _wider(name: str) -> Fault:
    def change(program: Program, _: Point) -> Program:
        return with_shape(program, name, lambda shape: [shape[0], 2])

    return Fault(f"{name}-of-two-columns", SHAPES, change, _STATIC)


def _longer(program: Program, _: Point) -> Program:
    return with_shape(program, "sample_indices", lambda shape: [9, *shape[1:]])


OPERATORS = (
    Operator(
        _NAME,
        meaning="For each sample i the first place v of row sample_indices[i] of prob where "
        "uniform_sample[i] is below the sum of the row up to and with v.",
        source="docstring of relax.op.multinomial_from_uniform; its examples; "
        "tests/python/relax/test_backend_dispatch_sampling.py",
        operands=(
            Operand("prob", ranks=(2,)),
            Operand("uniform_sample", ranks=(2,)),
            Operand("sample_indices", ranks=(2,), dtypes=_INTEGERS),
        ),
        attributes=(Attribute("dtype", "dtype", "int64"),),
        axes=(
            Axis(DTYPE, FLOATS, "float32", default_weight=4),
            *(Axis(name, sizes, sizes[0], least=(1,)) for name, sizes in _SIZES.items()),
            *(toggle(f"symbolic.{name}") for name in _SIZES),
            Axis("sample_dtype", ("same", "float64"), "same", default_weight=4),
            Axis("index_dtype", _INTEGERS, "int64"),
            Axis("out_dtype", _INTEGERS, "int64"),
        ),
        apply=_sampled,
        numerics=Numerics.COPIES,
        requires="rows of probabilities that add up to 1; samples from 0 to 1; indices of rows",
        faults=(
            argument_dtype(_NAME, 0, "int32", pinned={"sample_dtype": "same"}),
            argument_dtype(_NAME, 1, "int32", kind="sample-dtype"),
            argument_dtype(_NAME, 2, "float32", kind="indices-dtype"),
            *(argument_rank(_NAME, index) for index in range(3)),
            _wider("uniform_sample"),
            _wider("sample_indices"),
            Fault("numbers-of-samples-differ", (*SHAPES, *RANKS, "batch"), _longer, _STATIC),
        ),
        own=OwnOperand(
            frozenset(
                (DTYPE, "rows", "items", *(f"symbolic.{name}" for name in ("rows", "items")))
            ),
            start=_start,
            bindings=_bindings,
        ),
    ),
)
