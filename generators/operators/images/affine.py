"""Grids of places that an affine transformation makes."""

from collections.abc import Sequence

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.draft import Draft, Unfit, Value, shape_value
from relaxcheck.generators.core.faults import Fault, with_shape
from relaxcheck.generators.core.operand import DTYPE
from relaxcheck.generators.core.points import Given, bindings, integer, toggle
from relaxcheck.generators.core.program import Program
from relaxcheck.generators.operators.faults import DTYPES, RANKS, SHAPES, attribute_is
from relaxcheck.generators.operators.record import (
    FLOATS,
    Attribute,
    Numerics,
    Operand,
    Operator,
    OwnOperand,
)

_NAME = "image.affine_grid"
_DATA = "data"
_BATCHES = (2, 1, 3, 7, 0)
_SIZES = (3, 2, 1, 4, 7, 17, "batch")
"""Sizes of the grid's height and width; ``batch`` is as many as there are matrices."""
_DEPTHS = (3, 2, 5)
_AXES = ("size.d", "size.h", "size.w")


def _needed(aligned: bool) -> int:
    """The fewest places along an axis: aligned corners are two."""
    return 2 if aligned else 1


def _size_fits(batch: int, aligned: bool, size: int | str) -> bool:
    return (batch if size == "batch" else int(size)) >= _needed(aligned)


def _start(draft: Draft, point: Point) -> Value:
    spatial = integer(point, "spatial")
    batch: Dim = "B" if point["symbolic.batch"] else integer(point, "batch")
    return draft.input((batch, spatial, spatial + 1), str(point[DTYPE]), name=_DATA)


def _bindings(point: Point) -> tuple[dict[str, int], ...]:
    if not point["symbolic.batch"]:
        return ({},)
    follows = "batch" in [point[name] for name in _AXES]
    least = _needed(bool(point["align_corners"])) if follows else 0
    own = integer(point, "batch")
    sizes = [own, *(size for size in (0, 1, 2, 3, 7) if size != own and size >= least)]
    return bindings({"B": sizes})


def _described(data: Value) -> Point:
    """A graph's value as a batch of matrices.

    Raises:
        Unfit: it has other shapes than (n, 2, 3) and (n, 3, 4), or another dtype.
    """
    if data.dtype not in FLOATS or data.rank != 3 or data.shape[1:] not in ((2, 3), (3, 4)):
        raise Unfit(f"{_NAME} takes no {data.dtype} of shape {data.shape}")
    symbolic = bool(symbols(data.shape[0]))
    batch = 7 if symbolic else int(data.shape[0])
    return {
        "spatial": int(data.shape[1]),
        DTYPE: data.dtype,
        "batch": batch,
        "symbolic.batch": symbolic,
    }


def _affine_grid(draft: Draft, data: Value, point: Point) -> None:
    spatial, aligned = integer(point, "spatial"), bool(point["align_corners"])
    size = tuple(
        data.shape[0] if point[name] == "batch" else integer(point, name)
        for name in _AXES[-spatial:]
    )
    for dim in size:
        draft.require(dim, _needed(aligned))
    # TVM 0.25 aligns corners always, and takes no attribute.
    attributes: dict[str, program.Attribute] = {} if aligned else {"align_corners": False}
    draft.call(_NAME, [data], (data.shape[0], spatial, *size), size=shape_value(size), **attributes)


def _axes() -> tuple[Axis, ...]:
    fits = Given(("batch", "align_corners"), _size_fits)
    return (
        Axis("spatial", (2, 3), 2, words="a grid of {} axes"),
        Axis(DTYPE, FLOATS, "float32", default_weight=4),
        Axis("batch", _BATCHES, 2, least=(1,)),
        Axis("align_corners", (True, False), True),
        Axis("size.h", _SIZES, 3, fits, least=(2,)),
        Axis("size.w", _SIZES, 3, fits, least=(2,)),
        Axis(
            "size.d",
            _DEPTHS,
            3,
            Given(("spatial",), lambda spatial, size: spatial == 3 or size == 3),
            least=(2,),
        ),
        toggle("symbolic.batch"),
    )


def _changed(axis: int) -> Fault:
    def grown(shape: list[Dim]) -> Sequence[Dim]:
        dim = shape[axis]
        if not isinstance(dim, int):
            raise ValueError(f"the dimension {dim!r} is symbolic")
        return [*shape[:axis], dim + 1, *shape[axis + 1 :]]

    def breaking(case: Program, _: Point) -> Program:
        return with_shape(case, _DATA, grown)

    name = {1: "rows", 2: "columns"}[axis]
    return Fault(f"matrix-{name}", (*SHAPES, _DATA, "second", "third"), breaking)


def _flat(case: Program, _: Point) -> Program:
    return with_shape(case, _DATA, lambda shape: shape[1:])


OPERATORS = (
    Operator(
        _NAME,
        meaning="For each matrix (a | t) of the batch and each place p of a grid over [-1, 1] "
        "along each axis, a p + t: x, y and z along axis 1. With aligned corners the first and "
        "last places are -1 and 1; otherwise place i of n is (2 i + 1) / n - 1.",
        source="docstring of relax.op.image.affine_grid; torch.nn.functional.affine_grid; ONNX "
        "AffineGrid",
        operands=(Operand(_DATA, ranks=(3,), dtypes=FLOATS),),
        attributes=(Attribute("size", "shape"), Attribute("align_corners", "bool", True)),
        axes=_axes(),
        apply=_affine_grid,
        numerics=Numerics.ACCUMULATES,
        requires="two places along each axis where corners are aligned, otherwise one",
        faults=(
            _changed(1),
            _changed(2),
            Fault("data-rank", (*RANKS, *DTYPES), _flat),
            attribute_is("size-length", _NAME, "size", (2, 2, 2, 2), ("shape", "ndim")),
        ),
        own=OwnOperand(
            frozenset(("spatial", DTYPE, "batch", "symbolic.batch")),
            start=_start,
            bindings=_bindings,
            describe=_described,
        ),
    ),
)
