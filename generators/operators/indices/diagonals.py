"""Operators that look at diagonals of matrices: triangles and identities."""

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import symbols
from relaxcheck.generators.core.draft import Draft, Value, shape_value
from relaxcheck.generators.core.operand import DTYPE, RANK, FitsDims
from relaxcheck.generators.core.points import Given, integer
from relaxcheck.generators.operators.faults import argument_rank
from relaxcheck.generators.operators.record import (
    FLOATS,
    Apply,
    Attribute,
    Numerics,
    Operand,
    Operator,
)
from relaxcheck.generators.operators.shape import DTYPES

_K = Axis("k", (0, 1, -1, 2, -2, 9, -9), 0, default_weight=2)
"""The number of a diagonal; 9 is beyond most matrices."""

_TO = Axis(
    "to",
    (None, "float32", "float64", "int8"),
    None,
    Given((DTYPE,), lambda dtype, to: dtype != to),
)

_DTYPES = (*FLOATS, "int32", "int8", "bool")


def _triangle(name: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        draft.call(name, [value], value.shape, k=integer(point, "k"))

    return apply


def _triangle_record(name: str, meaning: str) -> Operator:
    return Operator(
        name,
        meaning=meaning,
        source=f"docstring of relax.op.{name}; torch.{name}; ONNX Trilu",
        operands=(Operand("x", ranks=(2, 3, 4), dtypes=DTYPES),),
        attributes=(Attribute("k", "int", 0),),
        axes=(_K,),
        apply=_triangle(name),
        numerics=Numerics.COPIES,
        faults=(argument_rank(name, 0, more=-1, kind="data-rank", pinned={RANK: 2}),),
    )


def _eye(draft: Draft, value: Value, point: Point) -> None:
    rows, columns = value.shape
    sizes = {"n": rows} if point["columns"] == "left out" else {"n": rows, "m": columns}
    extents: dict[str, program.Attribute] = {
        name: shape_value((size,)) if symbols(size) else int(size) for name, size in sizes.items()
    }
    draft.call("eye", [], value.shape, value.dtype, **extents, k=point["k"], dtype=value.dtype)


def _eye_like(draft: Draft, value: Value, point: Point) -> None:
    dtype = None if point["to"] is None else str(point["to"])
    draft.call("eye_like", [value], value.shape, dtype, k=point["k"], dtype=dtype)


OPERATORS = (
    _triangle_record("tril", "Each matrix with zeros above its diagonal number k."),
    _triangle_record("triu", "Each matrix with zeros below its diagonal number k."),
    Operator(
        "eye",
        meaning="An n by m matrix with ones on its diagonal number k, zeros elsewhere; square "
        "where m is left out.",
        source="docstring of relax.op.eye; numpy.eye",
        operands=(),
        like=Operand("like", ranks=(2,), dtypes=_DTYPES),
        attributes=(
            Attribute("n", "extent"),
            Attribute("m", "extent", None),
            Attribute("k", "int", 0),
            Attribute("dtype", "dtype", "float32"),
        ),
        axes=(
            _K,
            Axis(
                "columns",
                ("given", "left out"),
                "given",
                FitsDims(lambda shape, value: value == "given" or shape[0] == shape[1]),
            ),
        ),
        apply=_eye,
        numerics=Numerics.COPIES,
    ),
    Operator(
        "eye_like",
        meaning="eye in the shape of a matrix, and in its dtype where none is given.",
        source="docstring of relax.op.eye_like; ONNX EyeLike",
        operands=(Operand("x", ranks=(2,), dtypes=_DTYPES),),
        attributes=(Attribute("k", "int", 0), Attribute("dtype", "dtype", None)),
        axes=(_K, _TO),
        apply=_eye_like,
        numerics=Numerics.COPIES,
        faults=(argument_rank("eye_like", 0, kind="data-rank"),),
    ),
)
