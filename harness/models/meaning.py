"""The meaning of a few Relax bindings by the reference oracle, without TVM's lowering.

Bindings are read back as nodes of a program. A node counts as read only if the function of its
operator, called with what was read, makes the same call again.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tvm
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api.functions import identity_of, is_constant
from relaxcheck.fixes.tvm_api.shapes import alike, dims_of, integer_of, name_of, substitute
from relaxcheck.generators.core.program import ITEM, Attribute, Input, Node, Program
from relaxcheck.generators.core.values import Array
from relaxcheck.harness.models.forcing import Part, bindings
from relaxcheck.oracles.answer import Bounded, OutOfBounds, Unsupported

_PREFIX = "relax."


_MOST_ELEMENTS = 1 << 20
"""The largest operand that is evaluated: the reference computes beyond float64, element by element
of what contributes."""


class NoMeaning(Exception):
    """The bindings cannot be read, or the oracle has no answer; the message says why."""


class Forbidden(Exception):
    """The rules of Relax leave the bindings without a meaning for these values."""


def meaning(part: Part, arrays: Sequence[Array]) -> tuple[Bounded, ...]:
    """The outputs of ``part`` for the values ``arrays`` of its inputs, with bounds of the error.

    Raises:
        NoMeaning: a binding cannot be read, or the oracle has no answer.
        Forbidden: an index is out of bounds.
    """
    from relaxcheck.oracles.reference import evaluate as reference

    if sum(array.size for array in arrays) > _MOST_ELEMENTS:
        raise NoMeaning("the operands are too large for the reference")
    reading = _Reading()
    main = part.module["main"]
    for parameter, array in zip(main.params, arrays, strict=True):
        reading.enter(parameter, array)
    *body, last = bindings(part.module)
    for binding in body:
        reading.bind(binding)
    outputs = tuple(reading.name(each) for each in last.value.fields)
    try:
        program = Program(tuple(reading.inputs), tuple(reading.nodes), outputs)
        return reference.evaluate(program, reading.arrays)
    except OutOfBounds as error:
        raise Forbidden(str(error)) from error
    except ValueError as error:
        raise NoMeaning(str(error)[:200]) from error
    except (Unsupported, KeyError, TypeError, IndexError, AttributeError) as error:
        # An attribute of a kind that the record does not foresee is no program of the oracle's.
        raise NoMeaning(f"{type(error).__name__}: {error}"[:200]) from error


@dataclass(slots=True)
class _Reading:
    """A program while its bindings are read; ``tuples`` are calls that return several tensors."""

    inputs: list[Input] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    arrays: dict[str, Array] = field(default_factory=dict)
    names: dict[Any, str] = field(default_factory=dict)
    tuples: dict[Any, Any] = field(default_factory=dict)
    sizes: dict[Any, Any] = field(default_factory=dict)

    def enter(self, variable: Any, array: Array) -> None:
        """Make a parameter, or a constant, an input."""
        name = f"v{len(self.arrays)}"
        dims = dims_of(tvm_api.type_of(variable)) or ()
        for dim, size in zip(dims, array.shape, strict=False):
            if tvm_api.is_variable(dim):
                self.sizes.setdefault(dim, tvm_api.integer(size))
        self.names[identity_of(variable) if isinstance(variable, relax.Var) else variable] = name
        self.arrays[name] = array
        self.inputs.append(Input(name, tuple(array.shape), str(array.dtype)))

    def name(self, value: Any) -> str:
        """The name of a tensor that a call uses."""
        if isinstance(value, relax.Var):
            key = identity_of(value)
            if key not in self.names:
                raise NoMeaning(f"{name_of(value)} is no tensor")
            return self.names[key]
        if is_constant(value):
            self.enter(value, tvm_api.tensor_of(value).numpy())
            return self.inputs[-1].name
        raise NoMeaning(f"the operand {value} is no tensor")

    def bind(self, binding: Any) -> None:
        """Read a binding."""
        key, value = identity_of(binding.var), binding.value
        if not isinstance(binding, relax.VarBinding):
            raise NoMeaning("a match_cast")
        if isinstance(value, relax.Var) or is_constant(value):
            self.names[key] = self.name(value)
        elif isinstance(value, relax.TupleGetItem):
            call = self.tuples.get(identity_of(value.tuple_value))
            if call is None:
                raise NoMeaning("an item of a tuple that no operator returns")
            self.names[key] = self.node(call, {ITEM: int(value.index)})
        elif isinstance(value, relax.Call) and tvm_api.is_tensor(value):
            self.names[key] = self.node(value, {})
        elif isinstance(value, relax.Call):
            self.tuples[key] = value
        else:
            raise NoMeaning(f"a {type(value).__name__}")

    def node(self, call: Any, further: Mapping[str, Attribute]) -> str:
        """Read a call of an operator; the name of its node."""
        if not isinstance(call.op, tvm.ir.Op) or not str(call.op.name).startswith(_PREFIX):
            raise NoMeaning(f"a call of {call.op}")
        operator = str(call.op.name).removeprefix(_PREFIX)
        function = _function(operator)
        parameters = list(inspect.signature(function).parameters)
        attributes: dict[str, Attribute] = {}
        again: dict[str, Any] = {}
        operands: list[str] = []
        for parameter, argument in zip(parameters, call.args, strict=False):
            again[parameter] = argument
            if isinstance(argument, relax.ShapeExpr):
                attributes[parameter] = tuple(map(self.size, argument.values))
            elif integer_of(argument) is not None:
                attributes[parameter] = self.size(integer_of(argument))
                again[parameter] = integer_of(argument)
            elif isinstance(argument, relax.Tuple):
                integers = [integer_of(each) for each in argument.fields]
                if integers and all(each is not None for each in integers):
                    attributes[parameter] = tuple(map(self.size, integers))
                    again[parameter] = integers
                else:
                    operands += [self.name(each) for each in argument.fields]
                    again[parameter] = list(argument.fields)
            else:
                operands.append(self.name(argument))
        values = tvm_api.attribute_values(call.attrs) if call.attrs is not None else {}
        for name, value in values.items():
            if name in parameters and name not in again:
                attributes[name] = again[name] = _plain(value)
        self._require_same(function, again, call)
        name = f"n{len(self.nodes)}"
        self.nodes.append(Node(name, operator, tuple(operands), attributes | dict(further)))
        return name

    def size(self, dim: Any) -> int:
        """``dim`` at the sizes of this run."""
        size = tvm_api.as_int(dim)
        if size is None:
            size = tvm_api.as_int(substitute(dim, self.sizes))
        if size is None:
            raise NoMeaning(f"the size {dim} is not known")
        return size

    def _require_same(
        self, function: Callable[..., Any], again: Mapping[str, Any], call: Any
    ) -> None:
        try:
            made = relax.BlockBuilder().normalize(function(**again))
        except Exception as error:
            raise NoMeaning(f"{call.op.name} cannot be called again: {error}"[:200]) from error
        if not alike(made, call):
            raise NoMeaning(f"{call.op.name} was not read whole")


def _function(operator: str) -> Callable[..., Any]:
    function: Any = relax.op
    for part in operator.split("."):
        function = getattr(function, part, None)
    if not callable(function):
        raise NoMeaning(f"TVM has no function of {operator}")
    found: Callable[..., Any] = function
    return found


def _plain(value: Any) -> Any:
    """An attribute of TVM's as Python's value."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if hasattr(value, "value") and isinstance(value.value, bool | int | float):
        return value.value
    if isinstance(value, np.generic):
        return value.item()
    try:
        return tuple(_plain(each) for each in value)
    except TypeError:
        return str(value)
