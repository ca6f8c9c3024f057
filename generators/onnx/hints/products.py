"""Products of matrices, sums of products, determinants."""

from collections.abc import Mapping

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.onnx.choices import by_version, decimal, is_integral, whole
from relaxcheck.generators.onnx.hint import Hint, attribute
from relaxcheck.generators.onnx.schemas import Schema
from relaxcheck.generators.onnx.sketch import NONE, ONE, SIZE, Sketch

# Gemm

_BIAS = "bias"


def _gemm(sketch: Sketch) -> None:
    rows, inner = sketch.symbol(0, 2), 3
    if sketch.point[SIZE] in (ONE, NONE):
        inner = 1 if sketch.point[SIZE] == ONE else 0
    columns = sketch.symbol(2, 4)
    left = (inner, rows) if sketch.point["transA"] == 1 else (rows, inner)
    right = (columns, inner) if sketch.point["transB"] == 1 else (inner, columns)
    shapes: dict[Value, tuple[Dim, ...]] = {
        "row": (columns,),
        "full": (rows, columns),
        "column": (rows, 1),
        "one-row": (1, columns),
        "scalar": (),
        "single": (1,),
    }
    names = [sketch.data("a", left), sketch.parameter("b", right)]
    if sketch.has(_BIAS):
        names.append(sketch.parameter("c", shapes[sketch.point[_BIAS]]))
    sketch.node(
        *names,
        alpha=decimal(sketch, "alpha"),
        beta=decimal(sketch, "beta"),
        transA=whole(sketch, "transA"),
        transB=whole(sketch, "transB"),
    )


def _gemm_axes() -> tuple[Axis, ...]:
    def optional(version: Schema, point: Point, value: Value) -> bool:
        return value is not None or version.inputs[2].optional

    def whole_numbers(point: Point, value: Value) -> bool:
        # Integers times a fraction: no two agree where to round.
        return value != "0.5" or not is_integral(str(point.get("T", "float32")))

    biases = ("row", None, "full", "column", "one-row", "scalar", "single")
    return (
        attribute("Gemm", "transA", (1, 0)),
        attribute("Gemm", "transB", (1, 0)),
        attribute("Gemm", "alpha", ("0.5", "2", "0"), whole_numbers),
        attribute("Gemm", "beta", ("0.5", "2", "0"), whole_numbers),
        by_version("Gemm", _BIAS, biases, optional, "row"),
    )


# MatMul

_FORM = "form"


def _product(sketch: Sketch) -> None:
    batch, other = sketch.symbol(0, 2), sketch.symbol(4, 3)
    rows, columns = sketch.symbol(1, 3), sketch.symbol(3, 5)
    inner = {ONE: 1, NONE: 0}.get(str(sketch.point[SIZE]), 4)
    left, right = _shapes(str(sketch.point[_FORM]), batch, other, rows, inner, columns)
    make = sketch.data if sketch.point["right"] == "data" else sketch.parameter
    sketch.node(sketch.data("a", left), make("b", right))


def _shapes(
    form: str, batch: Dim, other: Dim, rows: Dim, inner: Dim, columns: Dim
) -> tuple[tuple[Dim, ...], tuple[Dim, ...]]:
    """The shapes of two operands of a product."""
    shapes: Mapping[str, tuple[tuple[Dim, ...], tuple[Dim, ...]]] = {
        "matrices": ((rows, inner), (inner, columns)),
        "batches": ((batch, rows, inner), (batch, inner, columns)),
        "left-batch": ((batch, rows, inner), (inner, columns)),
        "right-batch": ((rows, inner), (batch, inner, columns)),
        "vector-matrix": ((inner,), (inner, columns)),
        "matrix-vector": ((rows, inner), (inner,)),
        "vectors": ((inner,), (inner,)),
        "vector-batch": ((inner,), (batch, inner, columns)),
        "batch-vector": ((batch, rows, inner), (inner,)),
        "broadcast": ((batch, 1, rows, inner), (other, inner, columns)),
        "single": ((1, rows, inner), (batch, inner, columns)),
        "heads": ((batch, other, rows, inner), (batch, other, inner, columns)),
    }
    return shapes[form]


_PRODUCTS = (
    *("matrices", "batches", "left-batch", "right-batch", "vector-matrix", "matrix-vector"),
    *("vectors", "vector-batch", "batch-vector", "broadcast", "single", "heads"),
)

# Einsum

_EQUATIONS = {
    "ij,jk->ik": ("ij", "jk"),
    "ij,jk": ("ij", "jk"),
    "ij->ji": ("ij",),
    "ji": ("ji",),
    "ij->": ("ij",),
    "ij->i": ("ij",),
    "ii->i": ("ii",),
    "ii": ("ii",),
    "i,i->": ("i", "i"),
    "i,j->ij": ("i", "j"),
    "bij,bjk->bik": ("bij", "bjk"),
    "bhqd,bhkd->bhqk": ("bhij", "bhkj"),
    "...ij,...jk->...ik": ("bij", "bjk"),
    "...ij->...ji": ("bij",),
    "i...->...": ("bij",),
    "...ij,jk": ("bij", "jk"),
    "ij,jk,kl->il": ("ij", "jk", "kl"),
    " i j , j k -> i k ": ("ij", "jk"),
    "Ij,jK->KI": ("ij", "jk"),
}
"""The equations, with the dimensions of their operands. Before an implicit result, its letters come
in alphabetic order."""

_LETTERS = {"b": 0, "i": 1, "j": 2, "k": 3, "l": 4, "h": 5}


def _einsum(sketch: Sketch) -> None:
    equation = sketch.text("equation")
    sizes: dict[str, Dim] = {letter: sketch.symbol(at, at + 2) for letter, at in _LETTERS.items()}
    odd = {ONE: 1, NONE: 0}.get(str(sketch.point[SIZE]))
    if odd is not None:
        sizes["j"] = odd
    names = []
    for at, letters in enumerate(_EQUATIONS[equation]):
        make = sketch.data if at == 0 else sketch.parameter
        names.append(make(f"x{at}", tuple(sizes[letter] for letter in letters)))
    sketch.node(*names, equation=equation)


def _det(sketch: Sketch) -> None:
    size = {ONE: 1, NONE: 2}.get(str(sketch.point[SIZE]), 3)
    leading = sketch.shape(sketch.rank - 2) if sketch.rank > 2 else ()
    sketch.node(sketch.data("x", (*leading, size, size)))


HINTS = (
    Hint("Gemm", _gemm, _gemm_axes(), ()),
    Hint(
        "MatMul",
        _product,
        (
            Axis(_FORM, _PRODUCTS, "matrices"),
            Axis("right", ("parameter", "data"), "parameter"),
        ),
        (),
    ),
    Hint(
        "Einsum",
        _einsum,
        (Axis("equation", tuple(_EQUATIONS), "ij,jk->ik"),),
        (),
    ),
    Hint("Det", _det, ranks=(2, 3, 4), held=()),
)
