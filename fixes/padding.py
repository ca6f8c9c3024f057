"""What an operator asks of an axis that is padded at its end: the vocabulary of its rules.

A tensor is *padded* along the axes whose dimension has the symbol in it. Its elements within the
dimensions that it has without padding are right; past them, along a padded axis, stands anything.
A rule says of one operator that the same then holds of its result, provided that some arguments
have a certain value past the end; else it refuses.
"""

import enum
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from tvm import relax

from fixes import tvm_api, tvm_api_shapes
from fixes.tvm_api import Call, Expr, PrimExpr, show
from fixes.tvm_api_shapes import Type, dims_of, fields_of


class Leak(ValueError):
    """What stands past the end would change the result."""


class End(enum.Enum):
    """A value at an end of a dtype: -infinity and infinity where it has them.

    ``LEAST_FINITE`` is what TVM's max_pool pads with.
    """

    LEAST = enum.auto()
    LEAST_FINITE = enum.auto()
    GREATEST = enum.auto()


@dataclass(frozen=True, slots=True)
class Refill:
    """Past the end of ``axis`` of argument ``argument`` must stand ``value``."""

    argument: int
    axis: int
    value: float | End


@dataclass(frozen=True, slots=True)
class Site:
    """One call of an operator, in a program whose inputs are padded where they have ``symbol``."""

    call: Call
    symbol: PrimExpr

    @property
    def name(self) -> str:
        """The operator's name, as messages give it: "nn.conv1d"."""
        return str(self.call.op.name).removeprefix("relax.")

    def type(self, argument: int) -> Type:
        """The type of that argument; of the result for -1."""
        return tvm_api.type_of(self.call if argument < 0 else self.call.args[argument])

    def dims(self, argument: int) -> list[PrimExpr]:
        """The dimensions of that argument; of the result for -1."""
        return dims_of(self.type(argument)) or []

    def padded(self, argument: int) -> list[int]:
        """The axes along which that tensor, or a field of that tuple, is padded."""
        fields = fields_of(self.type(argument)) or [self.type(argument)]
        found = {
            axis
            for field in fields
            for axis, dim in enumerate(dims_of(field) or [])
            if has_symbol(dim, self.symbol)
        }
        return sorted(found)

    def rank(self, argument: int) -> int:
        """The number of dimensions of that tensor, or of the first field of that tuple."""
        type_ = self.type(argument)
        return len(dims_of((fields_of(type_) or [type_])[0]) or [])

    def forbid(self, argument: int, axes: Collection[int] | None, why: str) -> None:
        """Refuse where that argument is padded along one of ``axes``, or any if None.

        Raises:
            Leak: it is; ``why`` tells what would go wrong.
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
"""What must stand past the ends of a call's arguments, so that its result is right.

Raises:
    Leak: nothing makes it so.
"""


def listed(axis: Any) -> list[int] | None:
    """An axis, or axes, as a list; None for None, which is all of them."""
    if axis is None:
        return None
    return [int(one) for one in axis] if hasattr(axis, "__len__") else [int(axis)]


def has_symbol(dim: PrimExpr, symbol: PrimExpr) -> bool:
    """Whether ``symbol`` is in the expression ``dim``."""
    return any(one.same_as(symbol) for one in tvm_api_shapes.variables(dim))


def dims_in(argument: Expr) -> list[PrimExpr]:
    """The integer expressions in an argument: an integer, those of a shape, or of a tuple's fields.

    Those of a tensor's type as well.
    """
    value = tvm_api_shapes.integer_of(argument)
    if value is not None:
        return [value]
    fields = getattr(argument, "fields", None)
    if fields is not None:
        return [dim for field in fields for dim in dims_in(field)]
    return [dim for _, _, dim in tvm_api_shapes.dims_within(tvm_api.type_of(argument))]


def is_operator(expr: Expr) -> bool:
    """Whether ``expr`` is a call of an operator; within dimensions there may be other calls."""
    name = getattr(getattr(expr, "op", None), "name", "")
    return isinstance(expr, relax.Call) and str(name).startswith("relax.")


def holds_tensors(argument: Expr) -> bool:
    """Whether ``argument`` is a tensor, or a tuple of tensors."""
    type_ = tvm_api.type_of(argument)
    fields = fields_of(type_) or [type_]
    return all(map(tvm_api_shapes.is_tensor_type, fields))
