"""The vocabulary of the rules for axes that are padded at their end.

A tensor is *padded* along the axes whose dimension contains the symbol. Its elements within the
dimensions without padding are right; the elements past them are arbitrary. The rule of an operator
says which values some arguments need past the end for the same to hold of its result, or refuses.
"""

import enum
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api import Call, Expr, PrimExpr, show
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from relaxcheck.fixes.tvm_api.shapes import Type, dims_of, fields_of


class Leak(ValueError):
    """Elements past the end would change the result."""


class End(enum.Enum):
    """An extreme of a dtype: -infinity and infinity if it has them.

    TVM's max_pool pads with ``LEAST_FINITE``.
    """

    LEAST = enum.auto()
    LEAST_FINITE = enum.auto()
    GREATEST = enum.auto()


@dataclass(frozen=True, slots=True)
class Refill:
    """Argument number ``argument`` needs ``value`` past the end of ``axis``."""

    argument: int
    axis: int
    value: float | End


@dataclass(frozen=True, slots=True)
class Site:
    """A call of an operator in a program whose tensors are padded where they have ``symbol``."""

    call: Call
    symbol: PrimExpr

    @property
    def name(self) -> str:
        """The operator's name in messages: "nn.conv1d"."""
        return str(self.call.op.name).removeprefix("relax.")

    def type(self, argument: int) -> Type:
        """The type of that argument; of the result for -1."""
        return tvm_api.type_of(self.call if argument < 0 else self.call.args[argument])

    def dims(self, argument: int) -> list[PrimExpr]:
        """The dimensions of that argument; of the result for -1."""
        return dims_of(self.type(argument)) or []

    def padded(self, argument: int) -> list[int]:
        """The padded axes of that tensor, or of any field of that tuple."""
        fields = fields_of(self.type(argument)) or [self.type(argument)]
        rules = {
            axis
            for field in fields
            for axis, dim in enumerate(dims_of(field) or [])
            if has_symbol(dim, self.symbol)
        }
        return sorted(rules)

    def rank(self, argument: int) -> int:
        """The rank of that tensor, or of the first field of that tuple."""
        type_ = self.type(argument)
        return len(dims_of((fields_of(type_) or [type_])[0]) or [])

    def forbid(self, argument: int, axes: Collection[int] | None, why: str) -> None:
        """Refuse if that argument is padded along one of ``axes``, or along any if None.

        Raises:
            Leak: it is; ``why`` explains what would go wrong.
        """
        listed = None if axes is None else {axis % max(1, self.rank(argument)) for axis in axes}
        for axis in self.padded(argument):
            if listed is None or axis in listed:
                raise self.leak(argument, axis, why)

    def leak(self, argument: int, axis: int, why: str) -> Leak:
        """The error for that axis of that argument."""
        type_ = self.type(argument)
        for field in fields_of(type_) or [type_]:
            dims = dims_of(field) or []
            if axis < len(dims) and has_symbol(dims[axis], self.symbol):
                where = f"axis {axis} of argument {argument}, which is {show(dims[axis])}"
                return Leak(f"{self.name}: {where}, cannot be padded: {why}")
        return Leak(f"{self.name}: axis {axis} of argument {argument} cannot be padded: {why}")


Rule = Callable[[Site], Iterator[Refill]]
"""Yields the values needed past the ends of a call's arguments for its result to be right.

Raises:
    Leak: no values make it right.
"""


def listed(axis: Any) -> list[int] | None:
    """An axis or axes as a list; None for None, which means all axes."""
    if axis is None:
        return None
    return [int(number) for number in axis] if hasattr(axis, "__len__") else [int(axis)]


def has_symbol(dim: PrimExpr, symbol: PrimExpr) -> bool:
    """True if ``symbol`` occurs in the expression ``dim``."""
    return any(variable.same_as(symbol) for variable in tvm_api_shapes.variables(dim))


def dims_in(argument: Expr) -> list[PrimExpr]:
    """The integer expressions in an argument: an integer, a shape, fields of a tuple, a tensor's
    type.
    """
    value = tvm_api_shapes.integer_of(argument)
    if value is not None:
        return [value]
    fields = getattr(argument, "fields", None)
    if fields is not None:
        return [dim for field in fields for dim in dims_in(field)]
    return [dim for _, _, dim in tvm_api_shapes.dims_within(tvm_api.type_of(argument))]


def is_operator(expr: Expr) -> bool:
    """True if ``expr`` is a call of an operator; dimensions may contain other calls."""
    name = getattr(getattr(expr, "op", None), "name", "")
    return isinstance(expr, relax.Call) and str(name).startswith("relax.")


def holds_tensors(argument: Expr) -> bool:
    """True if ``argument`` is a tensor or a tuple of tensors."""
    type_ = tvm_api.type_of(argument)
    fields = fields_of(type_) or [type_]
    return all(map(tvm_api_shapes.is_tensor_type, fields))
