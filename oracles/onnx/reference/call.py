"""The call of an ONNX operator as the reference's functions see it, and their registry."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relaxcheck.generators.core import program
from relaxcheck.generators.core.values import Array
from relaxcheck.generators.onnx.model import Graph, Node
from relaxcheck.generators.onnx.schemas import Schema
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.onnx.reference.values import whole
from relaxcheck.oracles.reference.bounds import unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate
from relaxcheck.oracles.reference.evaluate import OPERATORS as RELAX
from relaxcheck.oracles.reference.evaluation import Numerics
from relaxcheck.oracles.registry import declare

Sequence = tuple[Estimate, ...]
"""The value of a sequence."""


class Declined(Unsupported):
    """An operator that the reference has declines a call.

    The specification leaves its result open, or roundings of its operands decide it.
    """


@dataclass(frozen=True, slots=True)
class Maybe:
    """The value of an optional: what it has, None where it has nothing."""

    value: Estimate | Sequence | None


Value = Estimate | Sequence | Maybe

Run = Callable[[Graph, tuple[Value, ...]], tuple[Value, ...]]
"""The outputs of a graph for its inputs; it also sees the values around it."""


@dataclass(frozen=True, slots=True)
class Call:
    """A node, the version of its schema in force, and its operands: None for each left out."""

    node: Node
    schema: Schema
    operands: tuple[Value | None, ...]
    run: Run

    @property
    def since(self) -> int:
        """The first opset of the version in force."""
        return self.schema.since

    def optional(self, at: int) -> Estimate | None:
        """The operand number ``at``, a tensor; None where it is left out."""
        value = self.operands[at] if at < len(self.operands) else None
        if value is not None and not isinstance(value, Estimate):
            raise Unsupported(f"reference: {self.node.operator} of a sequence or optional")
        return value

    def __getitem__(self, at: int) -> Estimate:
        value = self.optional(at)
        if value is None:
            raise Unsupported(f"reference: {self.node.operator} without its input {at}")
        return value

    def named(self, name: str) -> Estimate | None:
        """The operand that the schema calls ``name``; None where it is left out, or no input."""
        for at, each in enumerate(self.schema.inputs):
            if each.name == name:
                return self.optional(at)
        return None

    @property
    def tensors(self) -> tuple[Estimate, ...]:
        """All operands, of a variadic operator: none is left out."""
        return tuple(self[at] for at in range(len(self.operands)))

    def attribute(self, name: str) -> Any:
        """The attribute ``name``, the schema's default where it is absent; None without one.

        Floating-point attributes are float32 values.
        """
        value = self.node.attributes.get(name, self.schema.attributes.get(name))
        if isinstance(value, float):
            return float(np.float32(value))
        if isinstance(value, tuple | list):
            return tuple(map(_plain, value))
        return value

    def flag(self, name: str) -> bool:
        """The attribute ``name`` as a truth value."""
        return bool(self.attribute(name))

    def integers(self, name: str) -> tuple[int, ...] | None:
        """Integers, from the attribute or the operand called ``name``; None where both lack.

        Raises:
            Unsupported: an integer is not certain.
        """
        operand = self.named(name)
        if operand is not None:
            return integers(operand)
        value = self.attribute(name)
        return None if value is None else tuple(int(each) for each in value)


def _plain(value: Any) -> Any:
    """An element of a list attribute, as float32 or text."""
    if isinstance(value, bytes):
        return value.decode()
    return float(np.float32(value)) if isinstance(value, float) else value


Result = Value | tuple[Value | None, ...]
Function = Callable[[Call], Result]

OPERATORS: dict[str, Function] = {}
"""The reference's functions by ONNX name; the modules of ``operators`` declare them."""

operator = declare(OPERATORS)
"""Declare the function of an operator. It returns its output, or a list of all of them."""


def composite(*names: str) -> Callable[[Function], Function]:
    """Declare a function that composes others, as ``composed``."""

    def enter(function: Function) -> Function:
        for name in names:
            operator(name)(composed(function))
        return function

    return enter


def composed(function: Function) -> Function:
    """``function``, which composes others, each rounded in the operands' dtype.

    A correct implementation may compute in a wider dtype inside. Its result is as close, but what
    overflows in between may be finite there: an element is unconstrained where the same composition
    in float64 says otherwise. The sign of a zero is open.
    """

    def evaluated(call: Call) -> Result:
        own = function(call)
        dtypes = {x.dtype for x in call.operands if isinstance(x, Estimate)} & {*FORMATS}
        if not dtypes or dtypes == {"float64"}:
            return _paired(own, own, _unsigned)
        wide = tuple(
            replace(x, dtype="float64") if isinstance(x, Estimate) and x.dtype in FORMATS else x
            for x in call.operands
        )
        try:
            twin = function(replace(call, operands=wide))
        except (Unsupported, ValueError):
            # The composition has constants of its own dtype.
            return _paired(own, own, _finite)
        return _paired(own, twin, _confirmed)

    return evaluated


def _finite(own: Estimate, wide: Estimate) -> Estimate:
    own = replace(own, signed=False)
    return unconstrain(own, ~np.isfinite(own.value)) if own.dtype in FORMATS else own


def _paired(own: Result, wide: Result, join: Callable[[Estimate, Estimate], Estimate]) -> Result:
    if isinstance(own, Estimate) and isinstance(wide, Estimate):
        return join(own, wide)
    assert isinstance(own, tuple)
    assert isinstance(wide, tuple)
    return tuple(
        None if a is None or b is None else _paired(a, b, join)  # type: ignore[misc]
        for a, b in zip(own, wide, strict=True)
    )


def _unsigned(own: Estimate, wide: Estimate) -> Estimate:
    return replace(own, signed=False)


def _confirmed(own: Estimate, wide: Estimate) -> Estimate:
    own = replace(own, signed=False)
    if own.dtype not in FORMATS:
        return own
    odd = ~np.isfinite(own.value)
    if not odd.any():
        return own
    # Beyond the range of its own dtype, the result is infinite in the end.
    beyond = np.isfinite(wide.value) & (
        np.abs(wide.value) - wide.error >= FORMATS[own.dtype].ceiling
    )
    limit = np.where(beyond, np.copysign(np.longdouble(np.inf), wide.value), wide.value)
    same = (own.value == limit) | (np.isnan(own.value) & np.isnan(limit))
    return unconstrain(own, odd & ~same)


def relax(name: str, *operands: Estimate, **attributes: Any) -> Estimate:
    """The result of the Relax operator ``name``, by its reference.

    Raises:
        Unsupported: that has no function of it, or refuses the call.
    """
    node = program.Node("result", name, tuple(f"x{at}" for at in range(len(operands))), attributes)
    return RELAX[name](node, list(operands), Numerics.OWN)


def integers(operand: Estimate) -> tuple[int, ...]:
    """The elements of an integer tensor. Raises ``Declined`` where one is not certain."""
    if operand.error.any():
        raise Declined("reference: a size or place is not certain")
    return tuple(int(each) for each in operand.value.ravel())


def integer(operand: Estimate) -> int:
    """The only element of an integer tensor. Raises ``Declined`` where it is not certain."""
    (value,) = integers(operand)
    return value


def axis_of(axis: int, rank: int) -> int:
    """``axis`` counted from the first of ``rank``. Raises ``ValueError`` where there is no such."""
    if not -rank <= axis < max(rank, 1):
        raise ValueError(f"axis {axis} of {rank}")
    return axis % rank if rank else 0


def axes_of(axes: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """``axes`` counted from the first, as ``axis_of``."""
    return tuple(axis_of(axis, rank) for axis in axes)


def constant(value: float, like: Estimate) -> Estimate:
    """The number ``value`` in the dtype of ``like``, rounded to it or not."""
    array: Array = np.asarray(value, np.longdouble if like.dtype in FORMATS else np.int64)
    if like.dtype not in FORMATS:
        return whole(array, like.dtype)
    exact = Estimate(array, np.zeros(()), like.dtype)
    near = relax("astype", replace(exact, dtype="float64"), dtype=like.dtype)
    with np.errstate(invalid="ignore"):
        off = np.abs(near.value - array).astype(np.float64)
    return replace(exact, error=np.where(np.isfinite(off), off, 0.0))


def shape_of(operand: Estimate) -> tuple[int, ...]:
    """The shape of ``operand``."""
    return tuple(operand.value.shape)


Attributes = Mapping[str, Any]
