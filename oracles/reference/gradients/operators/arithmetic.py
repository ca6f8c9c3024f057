"""The reference's gradients of operators that compute element by element.

Sources: the derivatives of elementary functions. Where a function has none, as the absolute value
at 0 or the maximum of two equal elements, the gradient is unconstrained: frameworks differ.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from relaxcheck.oracles.reference.bounds import unconstrain
from relaxcheck.oracles.reference.estimate import Estimate, Flags
from relaxcheck.oracles.reference.gradients.rules import (
    GRADIENTS,
    Call,
    collapsed,
    difference,
    gradient,
    made,
    negative,
    number,
    product,
    reordered,
    underflowing,
    widened,
)

Partials = Sequence[Estimate | None]


@gradient("add")
def _add(call: Call) -> Partials:
    return [collapsed(call.gradient, each) for each in call.operands]


@gradient("subtract")
def _subtract(call: Call) -> Partials:
    a, b = call.operands
    return [collapsed(call.gradient, a), collapsed(negative(call.gradient), b)]


@gradient("multiply")
def _multiply(call: Call) -> Partials:
    a, b = call.operands
    return [collapsed(product(call.gradient, b), a), collapsed(product(call.gradient, a), b)]


@gradient("divide")
def _divide(call: Call) -> Partials:
    """The second is ``-g * a / (b * b)``, or ``-g * (a / b) / b`` in any order."""
    a, b = call.operands
    of_b = reordered(made("divide", product(call.gradient, call.result), b), 3)
    of_b = underflowing(of_b, call.gradient, call.result, _inverse(b))
    return [collapsed(_quotient(call.gradient, b), a), collapsed(negative(of_b), b)]


def _inverse(value: Estimate) -> Estimate:
    return made("divide", number(1, value.dtype), value)


def _quotient(a: Estimate, b: Estimate) -> Estimate:
    """``a / b``, or ``a`` times the inverse of ``b``, which may underflow."""
    return underflowing(reordered(made("divide", a, b), 1), a, _inverse(b))


@gradient("power")
def _power(call: Call) -> Partials:
    """Both are left open for a base that is not above 0: there the logarithm is undefined."""
    a, b = call.operands
    less = made("power", a, difference(b, number(1, b.dtype)))
    of_a = reordered(product(call.gradient, b, less), 1)
    positive = a.value - a.error > 0
    base = replace(a, value=np.where(positive, a.value, 1), error=np.where(positive, a.error, 0))
    of_b = reordered(product(call.gradient, call.result, made("log", base)), 1)
    return [collapsed(of_a, a), collapsed(unconstrain(of_b, ~positive), b)]


def _extremum(call: Call, above: Callable[[Estimate, Estimate], Flags]) -> Partials:
    a, b = call.operands
    # Of NaN, and of equal infinities, whose difference is NaN, neither operand is the larger.
    with np.errstate(invalid="ignore"):
        tie = ~(np.abs(a.value - b.value) > a.error + b.error)
    zero = np.longdouble(0)
    shares = []
    for flags, operand in ((above(a, b), a), (~above(a, b), b)):
        value = np.where(flags, call.gradient.value, zero)
        error = np.where(flags, call.gradient.error, 0.0)
        share = unconstrain(replace(call.gradient, value=value, error=error), tie)
        shares.append(collapsed(share, operand))
    return shares


@gradient("maximum")
def _maximum(call: Call) -> Partials:
    return _extremum(call, lambda a, b: np.asarray(a.value > b.value))


@gradient("minimum")
def _minimum(call: Call) -> Partials:
    return _extremum(call, lambda a, b: np.asarray(a.value < b.value))


@gradient("negative")
def _negative(call: Call) -> Partials:
    return [negative(call.gradient)]


def _signed(call: Call, below: float) -> Partials:
    """The gradient times 1 for operands above 0, times ``below`` for those below."""
    (x,) = call.operands
    factor = np.where(x.value > 0, np.longdouble(1), np.longdouble(below))
    value, error = call.gradient.value * factor, call.gradient.error * np.abs(factor)
    share = replace(call.gradient, value=value, error=np.asarray(error, np.float64))
    # NaN has no sign.
    unsure = ~(np.abs(x.value) > x.error) | ~np.isfinite(call.gradient.error)
    return [unconstrain(share, unsure)]


@gradient("abs")
def _abs(call: Call) -> Partials:
    return _signed(call, -1)


@gradient("nn.relu")
def _relu(call: Call) -> Partials:
    return _signed(call, 0)


@gradient("cos")
def _cos(call: Call) -> Partials:
    return [negative(product(call.gradient, made("sin", call.operands[0])))]


@gradient("sin")
def _sin(call: Call) -> Partials:
    return [product(call.gradient, made("cos", call.operands[0]))]


@gradient("exp")
def _exp(call: Call) -> Partials:
    return [product(call.gradient, call.result)]


@gradient("log")
def _log(call: Call) -> Partials:
    return [_quotient(call.gradient, call.operands[0])]


@gradient("sqrt")
def _sqrt(call: Call) -> Partials:
    return [_quotient(product(call.gradient, number(0.5, call.dtype)), call.result)]


@gradient("sigmoid")
def _sigmoid(call: Call) -> Partials:
    return [product(call.gradient, call.result, _rest(call.result))]


def _rest(part: Estimate) -> Estimate:
    """``1 - part``."""
    return difference(number(1, part.dtype), part)


@gradient("tanh")
def _tanh(call: Call) -> Partials:
    square = made("multiply", call.result, call.result)
    # The difference may also be a product of 1 - y and 1 + y, each rounded.
    return [reordered(product(call.gradient, _rest(square)), 2)]


@gradient("nn.silu")
def _silu(call: Call) -> Partials:
    """``s + y * (1 - s)`` or ``s * (1 + x * (1 - s))``, where s is the sigmoid of x."""
    (x,) = call.operands
    part = made("sigmoid", x)
    turn = product(call.result, _rest(part))
    inner = made("add", part, turn)
    size = part.reach * (2 + x.reach)
    return [product(call.gradient, widened(inner, 4 * size))]


def _nothing(call: Call) -> Partials:
    return [None] * len(call.operands)


for _name in ("zeros_like", "ones_like", "full_like", "zeros", "ones", "full", "shape_of"):
    GRADIENTS[_name] = _nothing
