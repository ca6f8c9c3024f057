"""Functions of one and two operands, element by element."""

from collections.abc import Callable, Mapping, Sequence
from math import erfc
from typing import Any

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import (
    FLOATS,
    Array,
    Type,
    broadcast,
    number,
    one_dtype,
    operator,
    refuse,
)
from tests.measure.quality.control.rounding import computed_in, constant, faithful, function
from tests.measure.quality.control.summation import Freedom

Unary = Callable[[Array, Freedom], Array]
"""A function in the dtype of its operand, every step rounded to it."""

_ROOT_OF_HALF = float(np.sqrt(np.longdouble(0.5)))
_FACTOR = float(np.sqrt(2 / np.longdouble(np.pi)))
_CUBIC = 0.044715


def _infer_float(node: Node, operands: Sequence[Type]) -> Type:
    return Type(
        broadcast(node, [each.shape for each in operands]), one_dtype(node, operands, FLOATS)
    )


def _infer_any(node: Node, operands: Sequence[Type]) -> Type:
    return Type(broadcast(node, [each.shape for each in operands]), one_dtype(node, operands))


def _infer_whole(node: Node, operands: Sequence[Type]) -> Type:
    result = _infer_any(node, operands)
    if result.dtype in FLOATS:
        raise NotImplementedError(f"{node.operator} of floating-point numbers")
    return result


def _infer_truth(node: Node, operands: Sequence[Type]) -> Type:
    return Type(_infer_any(node, operands).shape, "bool")


def _exponential(x: Array, freedom: Freedom) -> Array:
    return function(np.exp, x, freedom)


def _logistic(x: Array, freedom: Freedom) -> Array:
    unit = constant(1, x)
    # An exponential of float16 overflows where the result is no small number.
    ways = ("stable",) if x.dtype == np.float16 else ("plain", "stable")
    if freedom.choice(ways) == "plain":
        return unit / (unit + _exponential(-x, freedom))
    small = _exponential(-np.abs(x), freedom)
    return np.where(x < 0, small, unit) / (unit + small)


def _tanh(x: Array, freedom: Freedom) -> Array:
    return function(np.tanh, x, freedom)


def _part_of_gelu(x: Array, freedom: Freedom) -> Array:
    """tanh where 1 is added to it: what is lost near zero does not count."""
    if freedom.choice(("library", "exponentials")) == "library":
        return function(np.tanh, x, freedom)
    unit = constant(1, x)
    small = _exponential(constant(-2, x) * np.abs(x), freedom)
    size = (unit - small) / (unit + small)
    return np.copysign(size.astype(np.longdouble), x.astype(np.longdouble)).astype(x.dtype)


def _silu(x: Array, freedom: Freedom) -> Array:
    ways = ("product",) if x.dtype == np.float16 else ("product", "quotient")
    if freedom.choice(ways) == "product":
        return x * _logistic(x, freedom)
    return x / (constant(1, x) + _exponential(-x, freedom))


def _error_function(x: Array, freedom: Freedom) -> Array:
    """erf, from the C library's ``erfc`` in float64."""
    flat = [1 - erfc(each) for each in x.astype(np.float64).ravel().tolist()]
    return faithful(np.array(flat, np.longdouble).reshape(x.shape), x.dtype, freedom)


def _gelu(x: Array, freedom: Freedom) -> Array:
    half, unit = constant(0.5, x), constant(1, x)
    inner = _error_function(x * constant(_ROOT_OF_HALF, x), freedom)
    if freedom.choice(("distribution", "product")) == "distribution":
        return x * (half + half * inner)
    return half * x * (unit + inner)


def _gelu_tanh(x: Array, freedom: Freedom) -> Array:
    half, unit, factor, cubic = (constant(each, x) for each in (0.5, 1, _FACTOR, _CUBIC))
    if freedom.choice(("factored", "cube")) == "factored":
        inner = factor * x * (unit + cubic * x * x)
    else:
        inner = factor * (x + cubic * (x * x * x))
    return half * x * (unit + _part_of_gelu(inner, freedom))


_UNARY: Mapping[str, Unary] = {
    "exp": _exponential,
    "log": lambda x, freedom: function(np.log, x, freedom),
    "sqrt": lambda x, freedom: function(np.sqrt, x, freedom),
    "sigmoid": _logistic,
    "tanh": _tanh,
    "nn.silu": _silu,
    "nn.gelu": _gelu,
    "nn.gelu_tanh": _gelu_tanh,
}


def _inverse_root(x: Array, freedom: Freedom) -> Array:
    if freedom.choice(("function", "steps")) == "function":
        return function(lambda each: 1 / np.sqrt(each), x, freedom)
    return constant(1, x) / np.sqrt(x)


def _declare_unary(name: str, evaluate: Unary) -> None:
    @operator(name, _infer_float)
    def compute(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
        (x,) = operands
        return computed_in(x.dtype, freedom, x, compute=lambda each: evaluate(each, freedom))


for _name, _evaluate in {**_UNARY, "rsqrt": _inverse_root}.items():
    _declare_unary(_name, _evaluate)


@operator("negative", _infer_any)
def _negative(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return np.negative(operands[0])


@operator("abs", _infer_any)
def _abs(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return np.abs(operands[0])


@operator("nn.relu", _infer_any)
def _relu(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return _maximum(freedom)(operands[0], np.zeros((), operands[0].dtype))


def _maximum(freedom: Freedom) -> Callable[[Array, Array], Array]:
    """One of IEEE 754-2019's two maxima, of which one gives the number where the other is NaN."""
    function_of_two: Callable[[Array, Array], Array] = (
        np.maximum if freedom.choice(("maximum", "number")) == "maximum" else np.fmax
    )
    return function_of_two


def _minimum(freedom: Freedom) -> Callable[[Array, Array], Array]:
    function_of_two: Callable[[Array, Array], Array] = (
        np.minimum if freedom.choice(("minimum", "number")) == "minimum" else np.fmin
    )
    return function_of_two


@operator("nn.leakyrelu", _infer_float)
def _leakyrelu(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    slope = number(node, "alpha", 0.01)

    def compute(x: Array) -> Array:
        return np.where(x > 0, x, constant(slope, x) * x)

    return computed_in(operands[0].dtype, freedom, operands[0], compute=compute)


@operator("clip", _infer_any)
def _clip(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,) = operands
    low, high = (_end(number(node, name), x) for name in ("min", "max"))
    return _minimum(freedom)(_maximum(freedom)(x, low), high)


def _end(value: float, x: Array) -> Array:
    return np.array(int(value), x.dtype) if x.dtype.kind in "iu" else constant(value, x)


def _power(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    a, b = operands
    small = b.size == 1 and float(b.reshape(-1)[0]) in (2, 3)
    if small and freedom.choice(("library", "products")) == "products":

        def repeated(base: Array, exponent: Array) -> Array:
            times = int(exponent.reshape(-1)[0])
            product = base * base if times == 2 else base * base * base
            return np.broadcast_to(product, np.broadcast_shapes(base.shape, exponent.shape))

        return computed_in(a.dtype, freedom, a, b, compute=repeated)
    exact = np.power(a.astype(np.longdouble), b.astype(np.longdouble))
    return faithful(exact, a.dtype, freedom)


def _rounded_once(combine: Callable[[Array, Array], Array]) -> Callable[..., Array]:
    def compute(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
        return combine(*operands)

    return compute


for _name, _combine in {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
}.items():
    operator(_name, _infer_any)(_rounded_once(_combine))
operator("divide", _infer_float)(_rounded_once(np.divide))
operator("power", _infer_float)(_power)


@operator("maximum", _infer_any)
def _larger(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return _maximum(freedom)(*operands)


@operator("minimum", _infer_any)
def _smaller(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return _minimum(freedom)(*operands)


def _by_one(divisor: Array) -> Array:
    """``divisor`` with 1 in place of 0, where no result is defined."""
    return np.where(divisor == 0, np.ones((), divisor.dtype), divisor)


@operator("floor_divide", _infer_whole)
def _floor_divide(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    """Towards negative infinity, from a division that truncates."""
    a, b = operands[0], _by_one(operands[1])
    quotient, rest = _truncated(a, b)
    return quotient - ((rest != 0) & ((rest < 0) != (b < 0))).astype(a.dtype)


@operator("floor_mod", _infer_whole)
def _floor_mod(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    a, b = operands[0], _by_one(operands[1])
    _, rest = _truncated(a, b)
    return np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


def _truncated(a: Array, b: Array) -> tuple[Array, Array]:
    """Quotient towards zero and what is left of ``a``, as C divides."""
    rest = np.fmod(a, b)
    exact: Any = np.where(rest == 0, a, a - rest)
    return np.floor_divide(exact, b), rest


for _name, _compare in {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
}.items():
    operator(_name, _infer_truth)(_rounded_once(_compare))


def _infer_where(node: Node, operands: Sequence[Type]) -> Type:
    condition, a, b = operands
    if condition.dtype != "bool":
        raise refuse(node, f"the dtype of the condition is {condition.dtype}, not bool")
    return Type(broadcast(node, [each.shape for each in operands]), one_dtype(node, [a, b]))


@operator("where", _infer_where)
def _where(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return np.where(*operands)
