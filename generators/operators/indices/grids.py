"""Operators that make tables of vectors: products and coordinates."""

from dataclasses import replace

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value as Choice
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.operand import SHAPE
from relaxcheck.generators.core.points import text
from relaxcheck.generators.core.program import ITEM
from relaxcheck.generators.operators.choices import INTEGERS, extent, extent_choice
from relaxcheck.generators.operators.faults import RANKS, argument_rank, attribute_is
from relaxcheck.generators.operators.record import FLOATS, Attribute, Numerics, Operand, Operator

_DTYPES = (*FLOATS, *INTEGERS)
_SIZE = extent_choice("size", (3, 1, 0, "first", "symbol"))


def _outer(draft: Draft, value: Value, point: Point) -> None:
    other = draft.operand((extent(draft, value, point, "size"),), value.dtype)
    draft.call("outer", [value, other], (*value.shape, *other.shape))


def _meshgrid(draft: Draft, value: Value, point: Point) -> None:
    sizes: dict[str, tuple[Dim, ...]] = {
        "none": (),
        "one": (extent(draft, value, point, "size"),),
        "two": (extent(draft, value, point, "size"), 2),
    }
    others = [draft.operand((size,), value.dtype) for size in sizes[text(point, "others")]]
    tensors = [value, *others]
    shape = [each.shape[0] for each in tensors]
    if point["indexing"] == "xy":
        shape[:2] = shape[:2][::-1]
    kept = {"all": range(len(tensors)), "last": (len(tensors) - 1,)}
    attributes = {"indexing": text(point, "indexing")}
    for item in kept[text(point, "items")]:
        draft.call("meshgrid", tensors, shape, **attributes, **{ITEM: item})


def _typed_right(point: Point, indexing: Choice) -> bool:
    """TVM's type inference takes xy for ij, so that nothing in a graph may follow."""
    return indexing == "ij" or SHAPE not in point


OPERATORS = (
    Operator(
        "outer",
        meaning="Element (i, j) is the product of element i of one vector and j of the other.",
        source="docstring of relax.op.outer; torch.outer",
        operands=tuple(Operand(name, ranks=(1,), dtypes=_DTYPES) for name in ("x1", "x2")),
        axes=(_SIZE,),
        apply=_outer,
        numerics=Numerics.ROUNDS,
        narrowed=True,
        faults=tuple(
            replace(argument_rank("outer", index), names=(*RANKS, "1D")) for index in (0, 1)
        ),
    ),
    Operator(
        "meshgrid",
        meaning="The coordinates of a grid over vectors, a tensor each: along axis i in tensor i "
        "for ij; the first two axes swapped for xy.",
        source="docstring of relax.op.meshgrid; numpy.meshgrid; torch.meshgrid",
        operands=(Operand("tensors", ranks=(1,), dtypes=_DTYPES, many=True),),
        attributes=(Attribute("indexing", "text", "ij"),),
        axes=(
            Axis("others", ("one", "two", "none"), "one"),
            _SIZE,
            Axis("indexing", ("ij", "xy"), "ij", _typed_right),
            Axis("items", ("all", "last"), "all"),
        ),
        apply=_meshgrid,
        numerics=Numerics.COPIES,
        faults=(
            attribute_is("indexing-unknown", "meshgrid", "indexing", "ji"),
            argument_rank("meshgrid", 0),
        ),
    ),
)
