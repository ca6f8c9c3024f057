"""Operators that give a tensor another shape, and keep its elements."""

from collections.abc import Sequence

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.draft import Draft, Unfit, Value, shape_value
from relaxcheck.generators.core.operand import RANK, Fits, FitsDims, divides
from relaxcheck.generators.core.points import Given, integer, text, toggle
from relaxcheck.generators.core.polynomials import over, times
from relaxcheck.generators.operators.choices import (
    INTEGERS,
    extent,
    extent_choice,
    has_no_zero,
    numbers,
    replaced,
)
from relaxcheck.generators.operators.faults import (
    AXIS,
    PLAIN,
    SHAPES,
    attribute_is,
    axis_out_of_range,
)
from relaxcheck.generators.operators.record import (
    FLOATS,
    Attribute,
    Numerics,
    Operand,
    Operator,
)

DTYPES = (*FLOATS, *INTEGERS, "bool")
"""Those of operators that copy elements."""

_RANKS = (2, 1, 3, 4)

_RESHAPES = (
    *("insert one", "merge first", "merge last", "infer", "flatten", "same"),
    *("halve first", "third last", "pair last", "value"),
)
"""Ways to a new shape. ``infer`` leaves a dimension (-1) for the compiler to find; ``value`` takes
the shape that ``shape_of`` gives for another tensor; the others split or merge axes."""

_SPLITS = {"halve first": (0, 2, True), "third last": (-1, 3, False), "pair last": (-1, 2, True)}
"""The axis that is split, by how many, and whether the factor comes first."""


def _reshapes(shape: Sequence[Dim], way: str) -> bool:
    if way in ("merge first", "merge last"):
        return len(shape) > 1
    if way in _SPLITS:
        axis, factor, _ = _SPLITS[way]
        return len(shape) > 0 and divides(factor, shape[axis])
    return True


def _reshaped(draft: Draft, shape: tuple[Dim, ...], way: str) -> tuple[Dim, ...]:
    if way in _SPLITS:
        axis, factor, first = _SPLITS[way]
        dim = shape[axis]
        draft.require(dim, 0, factor)
        pair = (factor, over(dim, factor)) if first else (over(dim, factor), factor)
        return replaced(shape, axis % len(shape), *pair)
    return {
        "insert one": (*shape[:1], 1, *shape[1:]),
        "merge first": (times(*shape[:2]), *shape[2:]),
        "merge last": (*shape[:-2], times(*shape[-2:])),
        "flatten": (times(*shape),),
        "same": shape,
    }[way]


def _reshape(draft: Draft, value: Value, point: Point) -> None:
    if 0 in value.shape:
        # In the new shape 0 means the argument's dimension of that place.
        raise Unfit("a dimension that is the number 0")
    match text(point, "to"):
        case "value":
            target = draft.shape_of(value)
            flat = draft.call("flatten", [value], (times(*value.shape),))
            draft.call("reshape", [flat, target], value.shape)
        case "infer":
            draft.require(value.shape[-1], 1)
            target_dims: tuple[Dim, ...] = (-1, value.shape[-1])
            merged: tuple[Dim, ...] = (times(*value.shape[:-1]), value.shape[-1])
            draft.call("reshape", [value], merged, shape=shape_value(target_dims))
        case way:
            shape = _reshaped(draft, value.shape, way)
            draft.call("reshape", [value], shape, shape=shape_value(shape))


def _flatten(draft: Draft, value: Value, point: Point) -> None:
    draft.call("flatten", [value], (times(*value.shape),))


def _batch_flatten(draft: Draft, value: Value, point: Point) -> None:
    draft.call("nn.batch_flatten", [value], (value.shape[0], times(*value.shape[1:])))


_ORDERS = (None, "swap last", "swap first", "left", "right", "ends", "same")
"""Permutations of axes: reversed (left out), or two of them swapped, or all moved by one place."""


def _order(rank: int, name: str) -> tuple[int, ...]:
    axes = list(range(rank))
    match name:
        case "swap last":
            axes[-2:] = axes[:-3:-1]
        case "swap first":
            axes[:2] = axes[1::-1]
        case "left":
            axes = [*axes[1:], axes[0]]
        case "right":
            axes = [axes[-1], *axes[:-1]]
        case "ends":
            axes[0], axes[-1] = axes[-1], axes[0]
    return tuple(axes)


def _permute_dims(draft: Draft, value: Value, point: Point) -> None:
    if point["axes"] is None:
        draft.call("permute_dims", [value], value.shape[::-1])
        return
    order = _order(value.rank, text(point, "axes"))
    axes = tuple(axis - value.rank for axis in order) if point["negative"] else order
    draft.call("permute_dims", [value], [value.shape[at] for at in order], axes=axes)


def _squeezes(shape: Sequence[Dim], axis: int | None) -> bool:
    if axis is None:
        return True
    return -len(shape) <= axis < len(shape) and shape[axis] == 1


def _squeeze(draft: Draft, value: Value, point: Point) -> None:
    if point["axis"] is None and any(map(symbols, value.shape)):
        # Symbolic dimensions stay, at a binding of 1 too, which no oracle can tell from a static 1.
        added = draft.call("expand_dims", [value], (1, *value.shape), axis=(0,))
        draft.call("squeeze", [added], value.shape, axis=(0,))
        return
    if point["axis"] is None:
        shape: tuple[Dim, ...] = tuple(dim for dim in value.shape if dim != 1)
        draft.call("squeeze", [value], shape)
        return
    axis = integer(point, "axis")
    listed: program.Attribute = (axis,) if point["listed"] else axis
    draft.call("squeeze", [value], replaced(value.shape, axis % value.rank), axis=listed)


def _expands(rank: int, value: str) -> bool:
    axes = [int(part) for part in value.split(", ")]
    wide = rank + len(axes)
    inside = all(-wide <= axis < wide for axis in axes)
    return inside and len({axis % wide for axis in axes}) == len(axes)


def _expand_dims(draft: Draft, value: Value, point: Point) -> None:
    axes = numbers(point, "axis")
    assert axes is not None
    wide = value.rank + len(axes)
    new, old = {axis % wide for axis in axes}, iter(value.shape)
    shape = tuple(1 if at in new else next(old) for at in range(wide))
    draft.call("expand_dims", [value], shape, axis=axes)


def _broadcasts(shape: Sequence[Dim], way: str) -> bool:
    return way in ("same", "deeper", "value") or (way == "widen" and 1 in shape)


def _broadcast_to(draft: Draft, value: Value, point: Point) -> None:
    match text(point, "to"):
        case "value":
            # The shape of this tensor as a value, given to one that has 1 along the first axis.
            target = draft.shape_of(value)
            thin = draft.operand((1, *value.shape[1:]), value.dtype)
            result = draft.call("broadcast_to", [thin, target], value.shape)
            cast = shape_value(value.shape)
            draft.unsettled = (*draft.unsettled, result)
            draft.call("match_cast", [result], value.shape, shape=cast, dtype=value.dtype)
            return
        case "widen":
            size = extent(draft, value, point, "size")
            shape = tuple(size if dim == 1 else dim for dim in value.shape)
        case "deeper":
            shape = (extent(draft, value, point, "size"), *value.shape)
        case _:
            shape = value.shape
    draft.call("broadcast_to", [value], shape, shape=shape_value(shape))


def _match_cast(draft: Draft, value: Value, point: Point) -> None:
    shape = shape_value(value.shape)
    draft.call("match_cast", [value], value.shape, shape=shape, dtype=value.dtype)


def _shape_of(draft: Draft, value: Value, point: Point) -> None:
    """A reshape to the shape gives the tensor back: results are tensors."""
    shape = draft.shape_of(value)
    flat = draft.call("flatten", [value], (times(*value.shape),))
    draft.call("reshape", [flat, shape], value.shape)


def _shape_to_tensor(draft: Draft, value: Value, point: Point) -> None:
    shape = draft.shape_of(value)
    draft.call("shape_to_tensor", [shape], (value.rank,), "int64")


_RESHAPED: Point = {**PLAIN, "to": "insert one"}
_BROADCAST: Point = {**PLAIN, "rank": 2, "to": "same"}


def _tensor(*ranks: int, name: str = "x") -> Operand:
    return Operand(name, ranks=ranks, dtypes=DTYPES)


OPERATORS = (
    Operator(
        "reshape",
        meaning="The elements in row-major order under another shape; a -1 is worked out from the "
        "others, a 0 stands for the operand's dimension at that place.",
        source="docstring of relax.op.reshape",
        operands=(_tensor(2, 1, 3, 4),),
        attributes=(Attribute("shape", "shape"),),
        axes=(Axis("to", _RESHAPES, "insert one", Fits(_reshapes)),),
        apply=_reshape,
        faults=(
            # Of any plain operand: 7 divides no product of its sizes.
            attribute_is("count-differs", "reshape", "shape", (7,), SHAPES, _RESHAPED),
            attribute_is("two-open", "reshape", "shape", (-1, -1), SHAPES, _RESHAPED),
            attribute_is("below-zero", "reshape", "shape", (-2, 2), SHAPES, _RESHAPED),
        ),
        numerics=Numerics.COPIES,
        requires="as many elements as before",
        operand_fits=has_no_zero,
    ),
    Operator(
        "flatten",
        meaning="The elements in row-major order, on one axis.",
        source="docstring of relax.op.flatten",
        operands=(_tensor(2, 0, 1, 3, 4),),
        apply=_flatten,
        numerics=Numerics.COPIES,
    ),
    Operator(
        "permute_dims",
        meaning="The axes in another order; reversed where none is given.",
        source="docstring of relax.op.permute_dims; numpy.transpose",
        operands=(_tensor(2, 1, 3, 4),),
        attributes=(Attribute("axes", "axes", None),),
        axes=(
            Axis(
                "axes",
                _ORDERS,
                None,
                Given(
                    (RANK,),
                    lambda rank, name: (
                        name in (None, "same")
                        or rank > 2
                        or (rank > 1 and name in ("swap last", "left"))
                    ),
                ),
            ),
            toggle("negative", Given(("axes",), lambda axes, _: axes is not None)),
        ),
        apply=_permute_dims,
        faults=(
            attribute_is("axes-repeated", "permute_dims", "axes", (0, 0), AXIS, {"rank": 2}),
            attribute_is("axes-too-few", "permute_dims", "axes", (0,), AXIS, {"rank": 2}),
            attribute_is("axes-out-of-range", "permute_dims", "axes", (0, 2), AXIS, {"rank": 2}),
        ),
        numerics=Numerics.COPIES,
    ),
    Operator(
        "nn.batch_flatten",
        meaning="The elements in row-major order, on the first axis and a second one.",
        source="docstring of relax.op.nn.batch_flatten; ONNX Flatten",
        operands=(_tensor(2, 3, 4, name="data"),),
        apply=_batch_flatten,
        numerics=Numerics.COPIES,
    ),
    Operator(
        "squeeze",
        # An axis of another size is left as it is, on purpose (InferTypeSqueeze).
        meaning="The operand without one axis of size 1, or without all that are statically 1.",
        source="docstring of relax.op.squeeze",
        operands=(_tensor(2, 1, 3, 4),),
        attributes=(Attribute("axis", "axes", None),),
        axes=(
            Axis("axis", (None, 0, -1, 1, 2, -2, -3), None, FitsDims(_squeezes)),
            toggle("listed", Given(("axis",), lambda axis, _: axis is not None)),
        ),
        apply=_squeeze,
        faults=(axis_out_of_range("squeeze", pinned={"symbolic": "none"}),),
        numerics=Numerics.COPIES,
        requires="size 1 along the axis",
    ),
    Operator(
        "expand_dims",
        meaning="The operand with new axes of size 1 at the given places of the result.",
        source="docstring of relax.op.expand_dims",
        operands=(_tensor(2, 0, 1, 3),),
        attributes=(Attribute("axis", "axes"),),
        axes=(
            Axis(
                "axis",
                ("0", "-1", "1", "2", "-2", "3", "0, -1", "1, 2", "-1, -2", "0, 2"),
                "0",
                Given((RANK,), _expands),
            ),
        ),
        apply=_expand_dims,
        faults=(
            attribute_is("axis-out-of-range", "expand_dims", "axis", (9,), AXIS),
            attribute_is("axis-repeated", "expand_dims", "axis", (0, 0), (*AXIS, "duplicate")),
        ),
        numerics=Numerics.COPIES,
    ),
    Operator(
        "broadcast_to",
        meaning="The operand repeated to a shape that it broadcasts to, as NumPy has it.",
        source="docstring of relax.op.broadcast_to; numpy.broadcast_to",
        operands=(_tensor(2, 1, 3),),
        attributes=(Attribute("shape", "shape"),),
        axes=(
            Axis("to", ("deeper", "widen", "same", "value"), "deeper", FitsDims(_broadcasts)),
            extent_choice("size", (3, 1, 2, "first", "last")),
        ),
        apply=_broadcast_to,
        faults=(
            attribute_is("shapes-differ", "broadcast_to", "shape", (3, 7), SHAPES, _BROADCAST),
            attribute_is("rank-too-small", "broadcast_to", "shape", (4,), SHAPES, _BROADCAST),
        ),
        numerics=Numerics.COPIES,
    ),
    Operator(
        "match_cast",
        meaning="The operand, checked at run time to have a shape and dtype.",
        source="docstring of relax.MatchCast",
        operands=(_tensor(2, 0, 1, 3, 4),),
        attributes=(Attribute("shape", "expressions"), Attribute("dtype", "dtype")),
        apply=_match_cast,
        numerics=Numerics.COPIES,
        form="cast",
    ),
    Operator(
        "shape_of",
        meaning="The operand's shape, as a value.",
        source="docstring of relax.op.shape_of",
        operands=(_tensor(2, 1, 3, 4, name="expr"),),
        apply=_shape_of,
        numerics=Numerics.COPIES,
        operand_fits=has_no_zero,
    ),
    Operator(
        "shape_to_tensor",
        meaning="A shape as an int64 tensor of one axis.",
        source="docstring of relax.op.shape_to_tensor",
        operands=(Operand("expr", kind="shape", dtypes=()),),
        like=_tensor(2, 1, 3, 4),
        apply=_shape_to_tensor,
        numerics=Numerics.COPIES,
    ),
)
