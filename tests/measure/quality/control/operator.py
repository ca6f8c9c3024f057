"""The form of the control's operators, their registry, and how they read attributes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.summation import Freedom

Array = np.ndarray[Any, Any]

FLOATS = ("float16", "bfloat16", "float32", "float64")


class Refused(ValueError):
    """A program that the definition of an operator does not allow: which operator, and why."""


class UnknownShape(Exception):
    """The shape of a result follows from values that are known at run time only."""


@dataclass(frozen=True, slots=True)
class Type:
    """Shape and dtype of a tensor; ``values`` of a short integer vector, where they are known.

    ``most``: values decide the sizes, which are at most those of ``shape``.
    """

    shape: tuple[int, ...]
    dtype: str
    values: tuple[int, ...] | None = None
    most: bool = False

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)


Infer = Callable[[Node, Sequence[Type]], Type]
"""Infers the type of the result; raises ``Refused`` or ``UnknownShape``."""

Compute = Callable[[Node, Sequence[Array], Freedom], Array]
"""Computes the result from arrays of the operands' dtypes."""


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of the control.

    ``narrows``: mixed precision always gives it float16 operands for float32 ones; without, it is
    in float16 where all of its operands are. ``accumulates``: its operands are cast to the result's
    dtype, float32 also under mixed precision.
    """

    infer: Infer
    compute: Compute
    narrows: bool = False
    accumulates: bool = False


OPERATORS: dict[str, Operator] = {}
"""The control's operators by Relax name; the modules beside declare them."""


def operator(
    name: str, infer: Infer, *, narrows: bool = False, accumulates: bool = False
) -> Callable[[Compute], Compute]:
    """Declare the function that computes the operator ``name``."""

    def enter(compute: Compute) -> Compute:
        if name in OPERATORS:
            raise ValueError(f"operator {name} is declared twice")
        OPERATORS[name] = Operator(infer, compute, narrows, accumulates)
        return compute

    return enter


def refuse(node: Node, why: str) -> Refused:
    """The refusal of ``node``."""
    return Refused(f"{node.operator}: {why}")


def one_dtype(node: Node, operands: Sequence[Type], among: Sequence[str] = ()) -> str:
    """The dtype of all ``operands``, which has to be ``among`` those, if any.

    Raises:
        Refused: the dtypes differ, or are others.
    """
    dtypes = [each.dtype for each in operands]
    if len(set(dtypes)) != 1:
        raise refuse(node, f"the dtypes of the operands differ: {', '.join(dtypes)}")
    if among and dtypes[0] not in among:
        raise refuse(node, f"the dtype {dtypes[0]} is none of {', '.join(among)}")
    return dtypes[0]


def broadcast(node: Node, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape that ``shapes`` broadcast to. Raises ``Refused``."""
    rank = max(map(len, shapes), default=0)
    result = []
    for axis in range(-rank, 0):
        sizes = {shape[axis] for shape in shapes if len(shape) >= -axis} - {1}
        if len(sizes) > 1:
            differ = " and ".join(map(str, sorted(sizes)))
            raise refuse(node, f"shapes {list(shapes)} do not broadcast: dimensions {differ}")
        result.append(sizes.pop() if sizes else 1)
    return tuple(result)


def whole(node: Node, name: str, default: int | None = None) -> int:
    """The integer attribute ``name``. Raises ``Refused``."""
    value = node.attributes.get(name)
    value = default if value is None else value
    if isinstance(value, bool) or not isinstance(value, int):
        raise refuse(node, f"{name} {value!r} is no integer")
    return value


def wholes(node: Node, name: str, default: Sequence[int] | None = None) -> tuple[int, ...]:
    """The attribute ``name``, a list of integers; an integer is a list of one."""
    value = node.attributes.get(name)
    if value is None and default is not None:
        return tuple(default)
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,)
    if not isinstance(value, tuple):
        raise refuse(node, f"{name} {value!r} is no list of integers")
    return value


def number(node: Node, name: str, default: float | None = None) -> float:
    """The attribute ``name``, a number."""
    value = node.attributes.get(name)
    value = default if value is None else value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise refuse(node, f"{name} {value!r} is no number")
    return float(value)


def text(node: Node, name: str, default: str) -> str:
    """The attribute ``name``, a text; an empty one stands for the default."""
    return str(node.attributes.get(name) or default)


def flag(node: Node, name: str, default: bool) -> bool:
    """The attribute ``name``, true or false."""
    value = node.attributes.get(name)
    return default if value is None else bool(value)


def axis_of(node: Node, rank: int, name: str = "axis", default: int | None = None) -> int:
    """The attribute ``name``, an axis of ``rank``, counted from the front."""
    return _from_front(node, name, whole(node, name, default), rank)


def axes_of(node: Node, rank: int, name: str = "axis") -> tuple[int, ...]:
    """The attribute ``name``, axes of ``rank`` counted from the front; all where it is omitted."""
    if node.attributes.get(name) is None:
        return tuple(range(rank))
    axes = tuple(_from_front(node, name, axis, rank) for axis in wholes(node, name))
    if len(set(axes)) != len(axes):
        raise refuse(node, f"{name} {list(axes)} names an axis twice")
    return axes


def _from_front(node: Node, name: str, axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise refuse(node, f"{name} {axis} is out of range for a tensor of rank {rank}")
    return axis + rank if axis < 0 else axis
