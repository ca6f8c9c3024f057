"""Tensors made of nothing but a shape, and tensors of another dtype."""

from dataclasses import dataclass

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value as Choice
from relaxcheck.generators.core.draft import Draft, Value, shape_value
from relaxcheck.generators.core.fills.borders import Borders
from relaxcheck.generators.core.operand import DTYPE, SHAPE
from relaxcheck.generators.core.points import Given, text
from relaxcheck.generators.operators.choices import INTEGERS, decimal
from relaxcheck.generators.operators.record import (
    FLOATS,
    Apply,
    Attribute,
    Numerics,
    Operand,
    Operator,
)

_RANKS = (2, 0, 1, 3, 4)
_LIKE = Operand("like", ranks=_RANKS, dtypes=(*FLOATS, "int32", "int8", "bool"))
_NUMBERS = Operand("like", ranks=_RANKS, dtypes=(*FLOATS, "int32", "int8"))


def _made(name: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        attributes: dict[str, program.Attribute] = (
            decimal(point, "fill_value") if name == "full" else {}
        )
        shape = shape_value(value.shape)
        draft.call(name, [], value.shape, value.dtype, shape=shape, dtype=value.dtype, **attributes)

    return apply


_CAST = (
    *FLOATS,
    *("int32", "int8", "int64", "bool", "bfloat16", "float8_e4m3fn", "float8_e5m2"),
    *("uint8", "int16", "uint16", "uint32", "uint64"),
)
"""The dtypes that are cast: those of inputs."""

_IN_GRAPHS = ("float64", "float32", "float16", "int32", "int8", "int64", "bool")
"""The dtypes that graphs cast to, as few operators take the others."""

_BORDERS = "borders"
"""The values of ``Borders``: only these show that a cast rounds twice."""


@dataclass(frozen=True, slots=True)
class _CastTo:
    """The dtypes to cast to: another one, in a graph of ``_IN_GRAPHS``."""

    reads: tuple[str, ...] = (DTYPE, SHAPE)

    def __call__(self, point: Point, to: Choice) -> bool:
        """Return True if the operand is cast to ``to``."""
        return point.get(DTYPE) != to and (SHAPE not in point or to in _IN_GRAPHS)


@dataclass(frozen=True, slots=True)
class _Fillable:
    """The values of an operand: a graph's are there already."""

    reads: tuple[str, ...] = (SHAPE,)

    def __call__(self, point: Point, values: Choice) -> bool:
        """Return True if the operand can have ``values``."""
        return SHAPE not in point or values != _BORDERS


def _astype(draft: Draft, value: Value, point: Point) -> None:
    to = text(point, "to")
    if point["values"] == _BORDERS:
        value = draft.filled(value, Borders(to))
    draft.call("astype", [value], value.shape, to, dtype=to)


def _record(name: str, meaning: str) -> Operator:
    return Operator(
        name,
        meaning=meaning,
        source=f"docstring of relax.op.{name}",
        operands=(),
        like=_LIKE,
        attributes=(Attribute("shape", "shape"), Attribute("dtype", "dtype")),
        apply=_made(name),
        numerics=Numerics.COPIES,
    )


def _alike(name: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        attributes: dict[str, program.Attribute] = (
            decimal(point, "fill_value") if name == "full_like" else {}
        )
        dtype = value.dtype if point["to"] is None else text(point, "to")
        # The constant that full_like takes has the dtype that the attribute names.
        if point["to"] is not None or attributes:
            attributes["dtype"] = dtype
        draft.call(name, [value], value.shape, dtype, **attributes)

    return apply


def _record_alike(
    name: str,
    meaning: str,
    attributes: tuple[Attribute, ...] = (),
    axes: tuple[Axis, ...] = (),
) -> Operator:
    kinds = (None, "float32", "float64", "int32", "int8", "bool")
    to = Axis("to", kinds, None, Given((DTYPE,), lambda dtype, to: dtype != to))
    return Operator(
        name,
        meaning=meaning,
        source=f"docstring of relax.op.{name}",
        operands=(Operand("x", ranks=_RANKS, dtypes=(*FLOATS, *INTEGERS, "bool")),),
        attributes=(*attributes, Attribute("dtype", "dtype", None)),
        axes=(*axes, to),
        apply=_alike(name),
        numerics=Numerics.COPIES,
    )


OPERATORS = (
    _record_alike("zeros_like", "Zeros in the shape of x."),
    _record_alike("ones_like", "Ones in the shape of x."),
    _record_alike(
        "full_like",
        "One number in the shape of x, cast to dtype.",
        (Attribute("fill_value", "constant"),),
        (Axis("fill_value", ("2", "0", "1", "3"), "2"),),
    ),
    _record("zeros", "A tensor of zeros."),
    _record("ones", "A tensor of ones."),
    Operator(
        "full",
        meaning="A tensor of one number, cast to dtype.",
        source="docstring of relax.op.full",
        operands=(),
        like=_NUMBERS,
        attributes=(
            Attribute("shape", "shape"),
            Attribute("fill_value", "constant"),
            Attribute("dtype", "dtype", None),
        ),
        axes=(Axis("fill_value", ("2", "0", "-1", "3"), "2"),),
        apply=_made("full"),
        numerics=Numerics.COPIES,
    ),
    Operator(
        "astype",
        meaning="The operand in another dtype: rounded to nearest between floating-point formats, "
        "towards zero from these to integers.",
        source="docstring of relax.op.astype; MEANINGS.md, Moving elements",
        operands=(Operand("x", ranks=_RANKS, dtypes=_CAST),),
        attributes=(Attribute("dtype", "dtype"),),
        axes=(
            Axis(
                "to",
                (*_IN_GRAPHS, *(to for to in _CAST if to not in _IN_GRAPHS)),
                "float64",
                _CastTo(),
            ),
            Axis("values", ("drawn", _BORDERS), "drawn", _Fillable()),
        ),
        apply=_astype,
        numerics=Numerics.ROUNDS,
    ),
)
