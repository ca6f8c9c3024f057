"""Faults that many operators have, made from what their records say."""

from collections.abc import Sequence

from relaxcheck.generators.core.axes import Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.faults import Fault, with_attributes, with_dtype, with_shape
from relaxcheck.generators.core.operand import DTYPE, RANK, SIZES, SYMBOLIC
from relaxcheck.generators.core.points import integer
from relaxcheck.generators.core.program import Attribute, Program

AXIS = ("axis", "axes", "dimension", "out of range", "ndim")
DTYPES = ("dtype", "data type", "datatype", "type")
SHAPES = ("shape", "dimension", "broadcast", "size")
RANKS = ("rank", "ndim", "dimension", "shape", "layout")

STATIC: Point = {SYMBOLIC: "none"}
PLAIN: Point = {SYMBOLIC: "none", SIZES: "plain"}


def attribute_is(
    kind: str,
    operator: str,
    name: str,
    value: Attribute,
    names: Sequence[str] = (),
    pinned: Point | None = None,
) -> Fault:
    """The attribute ``name`` has the value ``value``."""
    return Fault(
        kind,
        (name, *names),
        lambda program, _: with_attributes(program, operator, lambda old: {name: value}),
        pinned or {},
    )


def axis_out_of_range(operator: str, name: str = "axis", pinned: Point | None = None) -> Fault:
    """The attribute ``name``, an axis or several, is the rank: one more than the last axis."""

    def breaking(program: Program, point: Point) -> Program:
        beyond = integer(point, RANK)

        def change(old: dict[str, Attribute]) -> dict[str, Attribute]:
            return {name: (beyond,) if isinstance(old.get(name), tuple) else beyond}

        return with_attributes(program, operator, change)

    return Fault(f"{name}-out-of-range", (name, *AXIS), breaking, pinned or {})


def argument(program: Program, operator: str, index: int) -> str:
    """The input that is argument ``index`` of the call of ``operator``.

    Raises:
        ValueError: it is the result of a node.
    """
    (name,) = {node.arguments[index] for node in program.nodes if node.operator == operator}
    try:
        return program.input(name).name
    except KeyError as error:
        raise ValueError(f"argument {index} of {operator} is no input") from error


def argument_dtype(
    operator: str, index: int, dtype: str, kind: str = "", pinned: Point | None = None
) -> Fault:
    """Argument ``index`` has the dtype ``dtype``, the operand at hand float32."""
    return Fault(
        kind or ("dtypes-differ" if index else f"dtype-{dtype}"),
        DTYPES,
        lambda program, _: with_dtype(program, argument(program, operator, index), dtype),
        {DTYPE: "float32", **(pinned or {})},
    )


def argument_grown(
    operator: str,
    index: int,
    axis: int = -1,
    kind: str = "",
    names: Sequence[str] = SHAPES,
    pinned: Point | None = None,
) -> Fault:
    """Argument ``index`` has one element more along ``axis``, which neither was nor becomes 1.

    ``pinned`` must see to that; the operand at hand has its plain, static sizes.
    """

    def grown(shape: list[Dim]) -> list[Dim]:
        dim = shape[axis]
        if not isinstance(dim, int) or dim < 2:
            raise ValueError(f"the dimension {dim!r} does not become another one that differs")
        changed = list(shape)
        changed[axis] = dim + 1
        return changed

    return Fault(
        kind or "shapes-differ",
        tuple(names),
        lambda program, _: with_shape(program, argument(program, operator, index), grown),
        {**PLAIN, **(pinned or {})},
    )


def argument_rank(
    operator: str, index: int, more: int = 1, kind: str = "", pinned: Point | None = None
) -> Fault:
    """Argument ``index`` has ``more`` axes in front, of one element each; fewer where negative."""

    def change(shape: list[Dim]) -> Sequence[Dim]:
        return shape[-more:] if more < 0 else (*(1,) * more, *shape)

    return Fault(
        kind or f"rank-of-argument-{index}",
        RANKS,
        lambda program, _: with_shape(program, argument(program, operator, index), change),
        pinned or {},
    )
