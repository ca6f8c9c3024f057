"""Tensors in another layout: each element moves to where an index map says."""

from collections.abc import Sequence

from relaxcheck.generators.core import program
from relaxcheck.generators.core.attributes import index_map_of
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim, fold, symbols
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.operand import DTYPE, FitsDims
from relaxcheck.generators.core.points import Given, integer, text
from relaxcheck.generators.core.polynomials import minus, over, plus, times
from relaxcheck.generators.operators.choices import INTEGERS
from relaxcheck.generators.operators.faults import DTYPES as DTYPE_NAMES
from relaxcheck.generators.operators.faults import argument_rank, attribute_is
from relaxcheck.generators.operators.record import Attribute, Numerics, Operand, Operator
from relaxcheck.generators.operators.shape import DTYPES

_NAME = "layout_transform"

_MAPS = (
    # Tiles, padded where their size does not divide the axis.
    *("i, j: i, j//4, j%4", "i, j: i//2, j//4, i%2, j%4", "i, j: j//2, i, j%2"),
    *("i, j: j, i", "i, j: i, j", "i, j: i*{last} + j"),
    *("i: i//4, i%4", "i: i", "i: (i + 1)//4, (i + 1)%4", "i: i//4, i//2%2, i%2"),
    *("i, j, k: k, i, j", "i, j, k: i, k//4, j, k%4", "i, j, k: i, j*{last} + k"),
    # From NCHW to NHWC, to NCHW4c and to tiles of height and width; from NCHWc to NCHW.
    *("n, c, h, w: n, h, w, c", "n, c, h, w: n, c//4, h, w, c%4"),
    *("n, c, h, w: n, c, h//2, w//4, h%2, w%4", "n, c, h, w, b: n, h, w, c, b"),
    "n, c, h, w, b: n, c*{last} + b, h, w",
)
"""Index maps; ``{last}`` is the operand's last dimension, a number."""


def _fits(shape: Sequence[Dim], pattern: str) -> bool:
    if len(index_map_of(pattern.replace("{last}", "1")).names) != len(shape):
        return False
    return "{last}" not in pattern or (not symbols(shape[-1]) and int(shape[-1]) > 0)


def _pads(dtype: str, value: int | None) -> bool:
    if value is None:
        return True
    return dtype != "bool" and not (value < 0 and dtype.startswith("u"))


def _size(result: str, sizes: dict[str, Dim]) -> Dim:
    """One more than the largest index; the whole divisor of a remainder."""

    def binary(sign: str, left: Dim, right: Dim) -> Dim:
        match sign:
            case "+":
                return plus(left, right)
            case "*":
                return times(left, right)
            case "//":
                return over(left, int(right))
        return minus(right, 1)

    largest = fold(result, lambda value: value, lambda name: minus(sizes[name], 1), binary)
    return plus(largest, 1)


def _layout_transform(draft: Draft, value: Value, point: Point) -> None:
    last = value.shape[-1]
    # TVM's parser simplifies a product with 1, and emission does not.
    written = text(point, "index_map").replace("*{last}", f"*{last}" if last != 1 else "")
    index_map = index_map_of(written)
    sizes = dict(zip(index_map.names, value.shape, strict=True))
    shape = [_size(result, sizes) for result in index_map.results]
    attributes: dict[str, program.Attribute] = {"index_map": written}
    if point["pad_value"] is not None:
        pad = integer(point, "pad_value")
        attributes["pad_value"] = float(pad) if "float" in value.dtype else pad
    draft.call(_NAME, [value], shape, **attributes)


_TILES: Point = {"rank": 2, "index_map": "i, j: i, j//4, j%4"}

OPERATORS = (
    Operator(
        _NAME,
        meaning="Each element moves to the indices that index_map gives for its own; where none "
        "moves to stands pad_value, or anything where there is none.",
        source="docstring of relax.op.layout_transform; tests of legalization",
        operands=(Operand("x", ranks=(2, 1, 3, 4, 5), dtypes=DTYPES),),
        attributes=(Attribute("index_map", "index_map"), Attribute("pad_value", "float", None)),
        axes=(
            Axis("index_map", _MAPS, _MAPS[0], FitsDims(_fits), default_weight=2),
            Axis("pad_value", (None, 0, 2, -1), None, Given((DTYPE,), _pads)),
        ),
        apply=_layout_transform,
        numerics=Numerics.COPIES,
        requires="an index map that moves no two elements to one place",
        faults=(
            argument_rank(_NAME, 0, pinned={**_TILES, "symbolic": "none"}),
            attribute_is(
                *("pad-dtype", _NAME, "pad_value", 1.5),
                names=("pad", *DTYPE_NAMES),
                pinned={**_TILES, DTYPE: INTEGERS[0]},
            ),
        ),
    ),
)
