"""The traps: calls in an imported program that are known to go wrong.

A trap is data: a predicate on a call, a sentence, and the bundled fixes that are made for it. It
says where to look. Only a run shows that a value is wrong.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tvm import relax, tirx
from tvm.ir import Op

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import LEGALIZE
from relaxcheck.fixes.tvm_api import functions, shapes

# TVM has no type information of its own.
Expr = Any
Array = NDArray[Any]

_FAST = "fast"
"""The mode in which ``take`` does not look at its indices, and which is the importers'."""

_PASSED_ON = ("relax.astype", "relax.reshape", "relax.expand_dims", "relax.squeeze")
"""Operators that leave the sign of integers as it is."""

_COMPARED = (
    *("relax.less", "relax.less_equal", "relax.greater", "relax.greater_equal"),
    *("relax.equal", "relax.not_equal"),
)
_SUMS = ("relax.cumsum", "relax.cumprod", "relax.sum", "relax.prod")

_OTHERWISE = (
    *("relax.argsort", "relax.sort", "relax.topk", "relax.cumsum", "relax.cumprod"),
    *("relax.nonzero", "relax.unique", "relax.multinomial_from_uniform", "relax.shape_of"),
    *("relax.print", "relax.assert_op", "relax.tensor_to_shape", "relax.null_value"),
    *("relax.invoke_", "relax.make_", "relax.call_", "relax.hint_on_device", "relax.to_vdevice"),
    *("relax.builtin.", "relax.memory.", "relax.vm.", "relax.wrap_param"),
)
"""Beginnings of the names of operators without a legalization that other passes, or the virtual
machine, carry out."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A binding of the scanned function: the variable's name, the call, and its operator's name.

    ``values`` are the constants and calls that variables stand for, by name.
    """

    variable: str
    expression: Expr
    operator: str
    values: Mapping[str, Expr]

    @property
    def arguments(self) -> tuple[Expr, ...]:
        """The arguments of the call; () of any other expression."""
        return tuple(getattr(self.expression, "args", ()))

    @property
    def attributes(self) -> dict[str, object]:
        """The attributes of the call, by name."""
        return tvm_api.attribute_values(getattr(self.expression, "attrs", None))


@dataclass(frozen=True, slots=True)
class Trap:
    """A kind of binding that goes wrong.

    ``look`` returns the details of a binding that falls into it, "" of any other. ``sentence`` says
    what happens, with ``{}`` for them. ``fixes`` names the bundled fixes that are made for it.
    """

    name: str
    sentence: str
    look: Callable[[Bound], str]
    fixes: tuple[str, ...] = ()


def _takes_from_the_end(bound: Bound) -> str:
    if bound.operator != "relax.take" or bound.attributes.get("mode") != _FAST:
        return ""
    indices = _constant(bound.arguments[1], bound.values)
    if indices is None or not indices.size or indices.min() >= 0:
        return ""
    return f"index {indices.min()} along axis {bound.attributes.get('axis')}"


def _may_take_from_the_end(bound: Bound) -> str:
    if bound.operator != "relax.take" or bound.attributes.get("mode") != _FAST:
        return ""
    name = _falls_below_zero(bound.arguments[1], bound.values)
    return f"{name}, the result of a subtraction," if name else ""


def _gathers_from_the_end(bound: Bound) -> str:
    places = {"relax.gather_elements": 1, "relax.gather_nd": 1}
    at = places.get(bound.operator)
    indices = None if at is None else _constant(bound.arguments[at], bound.values)
    if indices is None or not indices.size or indices.min() >= 0:
        return ""
    return f"index {indices.min()}"


def _clips_by_infinity(bound: Bound) -> str:
    if bound.operator != "relax.clip" or not _is_integer(bound.arguments[0]):
        return ""
    limits = zip(("min", "max"), bound.arguments[1:3], strict=False)
    infinite = [
        f"{name}={value}" for name, each in limits if not np.isfinite(value := _number(each))
    ]
    if not infinite:
        return ""
    return f"{', '.join(infinite)} for {tvm_api.dtype_of(bound.arguments[0])}"


def _compares_truth_values(bound: Bound) -> str:
    if bound.operator not in _COMPARED or not any(map(_is_bool, bound.arguments)):
        return ""
    return bound.operator.removeprefix("relax.")


def _sums_truth_values(bound: Bound) -> str:
    if bound.operator not in _SUMS or not _is_bool(bound.arguments[0]):
        return ""
    dtype = str(bound.attributes.get("dtype") or "bool")
    return bound.operator.removeprefix("relax.") if dtype in ("", "bool", "void") else ""


def _has_no_legalization(bound: Bound) -> str:
    operator = bound.expression.op
    if operator.get_attr(LEGALIZE) is not None or bound.operator.startswith(_OTHERWISE):
        return ""
    return bound.operator.removeprefix("relax.")


def _rounds_a_literal(bound: Bound) -> str:
    """The details of a float64 result that comes from a literal rounded to float32."""
    result = _dtype(bound.expression)
    if result != "float64" or bound.operator not in ("relax.astype", "relax.full"):
        return ""
    literal = bound.arguments[1 if bound.operator == "relax.full" else 0]
    value = _constant(literal, bound.values)
    if value is None or value.dtype != np.float32 or value.size != 1:
        return ""
    shortest = float(str(value.ravel()[0]))
    return "" if shortest == float(value.ravel()[0]) else f"{shortest!r}"


TRAPS = (
    Trap(
        "negative-take",
        "take(mode='fast') reads out of bounds at {}: it does not count negative indices from the "
        "end",
        _takes_from_the_end,
    ),
    Trap(
        "maybe-negative-take",
        "take(mode='fast') does not count negative indices from the end, and {} may be negative",
        _may_take_from_the_end,
    ),
    Trap(
        "negative-gather",
        "a negative index of {} is not counted from the end",
        _gathers_from_the_end,
        ("onnx_gather",),
    ),
    Trap(
        "infinite-clip",
        "clip has the limit {}, which no integer is: lowering fails, or every value is wrong",
        _clips_by_infinity,
    ),
    Trap(
        "compared-bools",
        "{} of truth values does not compile: code generation wants numbers",
        _compares_truth_values,
    ),
    Trap(
        "summed-bools",
        "{} of truth values is typed as truth values, where frameworks count in int64",
        _sums_truth_values,
    ),
    Trap(
        "no-legalization",
        "{} has no legalization: code generation refuses it",
        _has_no_legalization,
        ("multiply_add",),
    ),
    Trap(
        "rounded-literal",
        "the literal {} was rounded to float32 before it became float64",
        _rounds_a_literal,
    ),
)
"""The traps that look at one binding. Lost shapes are a trap of their own (``scan``)."""


def _constant(expression: Expr, values: Mapping[str, Expr]) -> Array | None:
    """The array that ``expression`` is, through casts and reshapes; None if it is no constant."""
    if functions.is_constant(expression):
        array: Array = tvm_api.tensor_of(expression).numpy()
        return array
    if isinstance(expression, relax.Var):
        held = values.get(shapes.name_of(expression))
        return None if held is None else _constant(held, values)
    operator = getattr(expression, "op", None)
    if isinstance(operator, Op) and str(operator.name) in _PASSED_ON:
        return _constant(expression.args[0], values)
    return None


def _falls_below_zero(expression: Expr, values: Mapping[str, Expr]) -> str:
    """The variable that is a difference, or a negative, and whose value ``expression`` has."""
    if not isinstance(expression, relax.Var):
        return ""
    name = shapes.name_of(expression)
    held = values.get(name)
    operator = getattr(held, "op", None)
    if held is None or not isinstance(operator, Op):
        return ""
    if str(operator.name) in ("relax.subtract", "relax.negative"):
        return name
    if str(operator.name) in _PASSED_ON:
        return _falls_below_zero(held.args[0], values)
    return ""


def _number(expression: Expr) -> float:
    """The number that ``expression`` is; 0 if it is no literal."""
    value = getattr(expression, "value", expression)
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, tirx.IntImm | tirx.FloatImm):
        return float(value.value)
    return 0.0


def _dtype(expression: Expr) -> str:
    return tvm_api.dtype_of(expression) if tvm_api.is_tensor(expression) else ""


def _is_bool(expression: Expr) -> bool:
    return _dtype(expression) == "bool"


def _is_integer(expression: Expr) -> bool:
    return _dtype(expression).startswith(("int", "uint"))
