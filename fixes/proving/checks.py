"""Conditions on symbolic dimensions: proved, refuted, or asserted at run time."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.proving import prover
from relaxcheck.fixes.tvm_api import Expr, PrimExpr
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from relaxcheck.fixes.tvm_api.functions import Binding, Function


@dataclass(frozen=True, slots=True)
class Check:
    """``condition`` must hold, or ``message`` is raised, each ``{}`` filled from ``values``."""

    condition: PrimExpr
    message: str
    values: tuple[PrimExpr, ...] = ()

    def assertion(self) -> Binding:
        """The binding that checks it at run time and raises AssertionError."""
        return tvm_api_functions.assertion(self.condition, self.message, self.values)

    def variables(self) -> list[PrimExpr]:
        """The symbols whose values the check needs."""
        names = [
            variable
            for dim in (self.condition, *self.values)
            for variable in tvm_api_shapes.variables(dim)
        ]
        return list(dict.fromkeys(names))


def undecided(checks: Iterable[Check], signed: Collection[PrimExpr] = ()) -> list[Check]:
    """Those of ``checks`` that only run time decides, without duplicates, in order.

    All symbols except ``signed`` are sizes.

    Raises:
        ValueError: a check can never hold. The message shows dimensions in place of values, and an
            upper bound for one that is always negative.
    """
    left: dict[tuple[str, str], Check] = {}
    for check in checks:
        if prover.proves(check.condition, signed):
            continue
        if prover.proves(tvm_api.negated(check.condition), signed):
            raise ValueError(
                check.message.format(*(_shown(operand, signed) for operand in check.values))
            )
        left.setdefault((check.message, str(check.condition)), check)
    return list(left.values())


def _shown(value: PrimExpr, signed: Collection[PrimExpr]) -> str:
    """``value`` as text, with an upper bound if always negative: ``n % 2 - 3, at most -2``."""
    text = tvm_api.show(value)
    if tvm_api.as_int(value) is not None or not prover.proves(value < 0, signed):
        return text
    analyzer = tvm_api_shapes.sizes_analyzer([value], signed)
    highest = int(analyzer.const_int_bound(analyzer.simplify(value)).max_value)
    return f"{text}, at most {min(highest, -1)}"


def place(path: Sequence[int], axis: int, parameter: Expr) -> str:
    """The name of an input's dimension in messages: "dimension 0 of field 1 of input 'x'"."""
    kind = tvm_api.type_of(parameter)
    for number in path:
        kind = tvm_api_shapes.fields_of(kind)[number]
    noun = "value" if tvm_api_shapes.is_shape_type(kind) else "dimension"
    fields = "".join(f"field {number} of " for number in reversed(path))
    return f"{noun} {axis} of {fields}input {tvm_api_shapes.name_of(parameter)!r}"


def origins(function: Function) -> dict[PrimExpr, str]:
    """The input that defines each symbol of a shape: "m is dimension 0 of input 'x'"."""
    defined: dict[PrimExpr, str] = {}
    derived: dict[PrimExpr, str] = {}
    for parameter in function.params:
        value = tvm_api_shapes.value_of_parameter(parameter)
        if value is not None:
            defined.setdefault(
                value, f"{tvm_api.show(value)} is input {tvm_api_shapes.name_of(parameter)!r}"
            )
        for path, axis, dim in tvm_api_shapes.dims_within(tvm_api.type_of(parameter)):
            for symbol in tvm_api_shapes.variables(dim):
                origin = f"{tvm_api.show(dim)} is {place(path, axis, parameter)}"
                (defined if tvm_api.is_variable(dim) else derived).setdefault(symbol, origin)
    return derived | defined


def scalars(function: Function) -> frozenset[PrimExpr]:
    """The symbols that are scalar inputs and no dimension of any input: they may be negative."""
    values = map(tvm_api_shapes.value_of_parameter, function.params)
    scalar_inputs = {value for value in values if value is not None and tvm_api.is_variable(value)}
    types = map(tvm_api.type_of, function.params)
    dims = [dim for type_ in types for _, _, dim in tvm_api_shapes.dims_within(type_)]
    return frozenset(scalar_inputs.difference(dims))
