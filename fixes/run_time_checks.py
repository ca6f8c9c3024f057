"""Conditions over symbolic dimensions: proved, refuted, or left to be asserted at run time."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from fixes import prover, tvm_api, tvm_api_functions, tvm_api_shapes
from fixes.tvm_api import Expr, PrimExpr
from fixes.tvm_api_functions import Binding, Function


@dataclass(frozen=True, slots=True)
class Check:
    """``condition`` must hold; else ``message``, each ``{}`` of which is the next of ``values``."""

    condition: PrimExpr
    message: str
    values: tuple[PrimExpr, ...] = ()

    def assertion(self) -> Binding:
        """What checks it at run time, and raises AssertionError."""
        return tvm_api_functions.assertion(self.condition, self.message, self.values)

    def variables(self) -> list[PrimExpr]:
        """The symbols whose values are needed to check it."""
        found = [
            variable
            for dim in (self.condition, *self.values)
            for variable in tvm_api_shapes.variables(dim)
        ]
        return list(dict.fromkeys(found))


def undecided(checks: Iterable[Check], signed: Collection[PrimExpr] = ()) -> list[Check]:
    """Those of ``checks`` that only the values at run time decide, each once, in order.

    All symbols but ``signed`` are taken for sizes.

    Raises:
        ValueError: one can never hold. The message has the dimensions in place of their values; of
            one that is always negative, it has the largest that it can be.
    """
    left: dict[tuple[str, str], Check] = {}
    for check in checks:
        if prover.proves(check.condition, signed):
            continue
        if prover.proves(tvm_api.negated(check.condition), signed):
            raise ValueError(check.message.format(*(_told(one, signed) for one in check.values)))
        left.setdefault((check.message, str(check.condition)), check)
    return list(left.values())


def _told(value: PrimExpr, signed: Collection[PrimExpr]) -> str:
    """``value`` as text, with a bound where it is always negative: ``n % 2 - 3, at most -2``."""
    text = tvm_api.show(value)
    if tvm_api.as_int(value) is not None or not prover.proves(value < 0, signed):
        return text
    analyzer = tvm_api_shapes.sizes_analyzer([value], signed)
    highest = int(analyzer.const_int_bound(analyzer.simplify(value)).max_value)
    return f"{text}, at most {min(highest, -1)}"


def place(path: Sequence[int], axis: int, parameter: Expr) -> str:
    """What a message calls one dimension of an input: "dimension 0 of field 1 of input 'x'"."""
    kind = tvm_api.type_of(parameter)
    for number in path:
        kind = tvm_api_shapes.fields_of(kind)[number]
    what = "value" if tvm_api_shapes.is_shape_type(kind) else "dimension"
    fields = "".join(f"field {number} of " for number in reversed(path))
    return f"{what} {axis} of {fields}input {tvm_api_shapes.name_of(parameter)!r}"


def origins(function: Function) -> dict[PrimExpr, str]:
    """By symbol of the inputs' shapes, where it is found: "m is dimension 0 of input 'x'"."""
    found: dict[PrimExpr, str] = {}
    derived: dict[PrimExpr, str] = {}
    for parameter in function.params:
        value = tvm_api_shapes.value_of_parameter(parameter)
        if value is not None:
            found.setdefault(
                value, f"{tvm_api.show(value)} is input {tvm_api_shapes.name_of(parameter)!r}"
            )
        for path, axis, dim in tvm_api_shapes.dims_within(tvm_api.type_of(parameter)):
            for symbol in tvm_api_shapes.variables(dim):
                said = f"{tvm_api.show(dim)} is {place(path, axis, parameter)}"
                (found if tvm_api.is_variable(dim) else derived).setdefault(symbol, said)
    return derived | found


def scalars(function: Function) -> frozenset[PrimExpr]:
    """The symbols that are inputs by themselves and dimensions of none: they may be negative."""
    values = map(tvm_api_shapes.value_of_parameter, function.params)
    given = {value for value in values if value is not None and tvm_api.is_variable(value)}
    types = map(tvm_api.type_of, function.params)
    dims = [dim for type_ in types for _, _, dim in tvm_api_shapes.dims_within(type_)]
    return frozenset(given.difference(dims))
