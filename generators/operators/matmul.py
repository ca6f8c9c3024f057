"""Matrix products."""

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.operand import DTYPE
from relaxcheck.generators.core.points import Given, text, toggle
from relaxcheck.generators.operators.choices import extent, extent_choice
from relaxcheck.generators.operators.faults import argument_grown
from relaxcheck.generators.operators.record import Attribute, Numerics, Operand, Operator

_WIDER = {"float16": "float32", "float32": "float64"}


def _fits(rank: int, other: str) -> bool:
    match other:
        case "batched":
            return rank > 2
        case "one batch":
            return rank > 2
    return True


def _matmul(draft: Draft, value: Value, point: Point) -> None:
    inner, form = value.shape[-1], text(point, "other")
    columns: tuple[Dim, ...] = () if form == "vector" else (extent(draft, value, point, "columns"),)
    before: tuple[Dim, ...] = ()
    if form == "batched":
        before = value.shape[:-2]
    elif form == "one batch":
        before = (1,) * (value.rank - 2)
    constant = bool(point["other_constant"])
    other = draft.operand((*before, inner, *columns), value.dtype, constant=constant)
    wide = _WIDER.get(value.dtype) if point["out_dtype"] == "wider" else None
    shape = (*value.shape[:-1], *columns)
    if wide is None:
        draft.call("matmul", [value, other], shape)
    else:
        draft.call("matmul", [value, other], shape, wide, out_dtype=wide)


OPERATORS = (
    Operator(
        "matmul",
        meaning="The product of the last two axes' matrices; leading axes broadcast, and an "
        "operand of rank 1 is a row on the left, a column on the right, whose axis goes.",
        source="docstring of relax.op.matmul; numpy.matmul",
        operands=(Operand("x1", ranks=(2, 1, 3, 4)), Operand("x2", ranks=(2, 1, 3, 4))),
        attributes=(Attribute("out_dtype", "dtype", None),),
        axes=(
            Axis(
                "other",
                ("matrix", "batched", "one batch", "vector"),
                "matrix",
                Given(("rank",), _fits),
                default_weight=2,
            ),
            extent_choice("columns", (3, 1, 4, "first", "symbol")),
            toggle("other_constant"),
            Axis(
                "out_dtype",
                (None, "wider"),
                None,
                Given((DTYPE,), lambda dtype, value: value is None or dtype in _WIDER),
                default_weight=4,
            ),
        ),
        apply=_matmul,
        numerics=Numerics.ACCUMULATES,
        narrowed=True,
        faults=(
            argument_grown(
                "matmul",
                1,
                axis=-2,
                kind="inner-sizes-differ",
                pinned={"rank": 2, "other": "matrix", "other_constant": False},
            ),
            argument_grown(
                "matmul",
                1,
                axis=0,
                kind="batches-differ",
                pinned={"rank": 4, "other": "batched", "other_constant": False},
            ),
        ),
    ),
)
