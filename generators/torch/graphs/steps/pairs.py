"""Steps of several operands that compute element by element: a value and weights, or numbers."""

from collections.abc import Mapping
from random import Random
from typing import Any

from relaxcheck.generators.core.fills.kinds import Positive
from relaxcheck.generators.torch.graphs.drafting import Drafting
from relaxcheck.generators.torch.graphs.steps.step import FUNCTIONAL, METHOD, Step
from relaxcheck.generators.torch.graphs.wire import INTEGERS, Wire, promoted

_MIXED = ("float32", "int64", "int32", "float16", "float64", "int8", "uint8", "bool")


def row(wire: Wire, random: Random) -> tuple[int, ...]:
    """The shape of a constant that broadcasts: a scalar, or as many last dimensions as it may."""
    shape: list[int] = []
    for dim in reversed(wire.shape):
        if random.random() < 0.3:
            break
        shape.insert(0, dim if isinstance(dim, int) and random.random() < 0.8 else 1)
    return tuple(shape)


def _arithmetic(name: str) -> Step:
    """A sum, difference or product with a weight, the value itself or a number; promotes."""

    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        if wire.dtype == "bool":
            return None
        keywords: dict[str, Any] = {}
        draw = random.random()
        if draw < 0.2:
            number = random.choice((2, -3)) if not wire.is_float else random.choice((2, 0.5, -3))
            pair: tuple[Wire | int | float, ...] = (wire, number)
        elif draw < 0.4:
            pair = (wire, wire)
        elif draw < 0.6:
            other = draft.weight(row(wire, random), random.choice(_MIXED), name="c")
            pair = (wire, other)
        else:
            other = draft.weight(row(wire, random), wire.dtype)
            pair = (other, wire) if random.random() < 0.3 else (wire, other)
        if name in ("add", "sub") and random.random() < 0.4:
            if any(isinstance(each, Wire) and each.dtype == "bool" for each in pair):
                return None
            keywords["alpha"] = 2
        if name == "sub" and any(isinstance(e, Wire) and e.dtype == "bool" for e in pair):
            return None
        exact = not wire.is_float and promoted(*pair) in INTEGERS
        return draft.call(
            f"torch.{name}", *pair, shape=wire.shape, gives=promoted(*pair), exact=exact, **keywords
        )

    return step


def _rsub(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if wire.dtype == "bool":
        return None
    keywords: dict[str, Any] = {"alpha": 2} if random.random() < 0.5 else {}
    return draft.call("torch.rsub", wire, 3, shape=wire.shape, gives=wire.dtype, **keywords)


def _div(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if wire.dtype == "bool":
        return None
    gives = wire.dtype if wire.is_float else "float32"
    divisor: Wire | int
    if random.random() < 0.5 or not wire.is_float:
        divisor = random.choice((2, 3, -4))
    else:
        divisor = draft.weight(row(wire, random), wire.dtype, Positive(1.0))
    return draft.call("torch.div", wire, divisor, shape=wire.shape, gives=gives)


def _rounded_div(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Quotients rounded down or towards zero: of exact values alone, for the quotient jumps."""
    wide = wire.dtype in ("float32", "float64", "int64", "int32")
    if not wire.exact or not wide:
        return None
    mode = random.choice(("floor", "trunc"))
    divisor = random.choice((2, 3, -4))
    return draft.call(
        "torch.div",
        wire,
        divisor,
        shape=wire.shape,
        gives=wire.dtype,
        exact=True,
        rounding_mode=mode,
    )


def _modulo(target: str) -> Step:
    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        if not wire.exact or wire.dtype not in ("float32", "float64", "int64", "int32"):
            return None
        divisor = random.choice((2, 3, -2))
        return draft.call(target, wire, divisor, shape=wire.shape, gives=wire.dtype, exact=True)

    return step


def _extreme(target: str) -> Step:
    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        if wire.dtype == "bool":
            return None
        other = draft.weight(row(wire, random), wire.dtype)
        return draft.call(target, wire, other, shape=wire.shape, gives=wire.dtype, exact=wire.exact)

    return step


def _smooth(target: str) -> Step:
    """A function of two floats."""

    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        if not wire.is_float:
            return None
        other = draft.weight(row(wire, random), wire.dtype, Positive(1.0))
        return draft.call(target, wire, other, shape=wire.shape, gives=wire.dtype)

    return step


def _three(target: str) -> Step:
    """A value, two weights, and a factor of their product or quotient."""

    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        if not wire.is_float:
            return None
        first = draft.weight(row(wire, random), wire.dtype)
        second = draft.weight(row(wire, random), wire.dtype, Positive(1.0))
        return draft.call(
            target, wire, first, second, shape=wire.shape, gives=wire.dtype, value=0.5
        )

    return step


def _lerp(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.is_float:
        return None
    end = draft.weight(row(wire, random), wire.dtype)
    weight = 0.25 if random.random() < 0.5 else draft.weight(row(wire, random), wire.dtype)
    return draft.call("torch.lerp", wire, end, weight, shape=wire.shape, gives=wire.dtype)


def _where(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    mask = draft.weight(row(wire, random), "bool", name="m")
    other: Wire | int = draft.weight(row(wire, random), wire.dtype)
    if random.random() < 0.4 and wire.dtype != "bool":
        other = -1
    pair = (wire, other) if random.random() < 0.5 else (other, wire)
    return draft.call(
        "torch.where", mask, *pair, shape=wire.shape, gives=wire.dtype, exact=wire.exact
    )


def _masked_fill(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if wire.dtype == "bool":
        return None
    mask = draft.weight(row(wire, random), "bool", name="m")
    return draft.call(
        f"{METHOD}.masked_fill",
        wire,
        mask,
        random.choice((0, -2)),
        shape=wire.shape,
        gives=wire.dtype,
        exact=wire.exact,
    )


_COMPARISONS = ("gt", "lt", "ge", "le", "eq", "ne")


def _compare(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Compare exact values with a number or a weight: truth values."""
    if not wire.exact or wire.dtype == "bool":
        return None
    other: Wire | int = draft.weight(row(wire, random), wire.dtype)
    if random.random() < 0.5:
        other = random.choice((0, 1))
    name = random.choice(_COMPARISONS)
    return draft.call(f"torch.{name}", wire, other, shape=wire.shape, gives="bool", exact=True)


def _logical(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Truth values of exact ones, joined by another mask."""
    if not wire.exact:
        return None
    name = random.choice(("logical_and", "logical_or", "logical_xor", "logical_not"))
    others = () if name == "logical_not" else (draft.weight(row(wire, random), "bool", name="m"),)
    return draft.call(f"torch.{name}", wire, *others, shape=wire.shape, gives="bool", exact=True)


def _bitwise(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not (wire.is_integer or wire.dtype == "bool"):
        return None
    name = random.choice(("bitwise_and", "bitwise_or", "bitwise_xor"))
    other = draft.weight(row(wire, random), wire.dtype)
    return draft.call(
        f"torch.{name}", wire, other, shape=wire.shape, gives=wire.dtype, exact=wire.exact
    )


def _prelu(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.is_float or wire.rank < 2:
        return None
    channels = wire.shape[1]
    count = channels if isinstance(channels, int) and random.random() < 0.7 else 1
    slope = draft.weight((count,), wire.dtype)
    return draft.call(f"{FUNCTIONAL}.prelu", wire, slope, shape=wire.shape, gives=wire.dtype)


def _residual(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """A value that two nodes take."""
    if not wire.is_float:
        return None
    inner = draft.call("torch.tanh", wire, shape=wire.shape, gives=wire.dtype)
    return draft.call("torch.add", inner, wire, shape=wire.shape, gives=wire.dtype)


STEPS: Mapping[str, Step] = {
    "add": _arithmetic("add"),
    "sub": _arithmetic("sub"),
    "mul": _arithmetic("mul"),
    "rsub": _rsub,
    "div": _div,
    "rounded-div": _rounded_div,
    "remainder": _modulo("torch.remainder"),
    "fmod": _modulo("torch.fmod"),
    "maximum": _extreme("torch.maximum"),
    "minimum": _extreme("torch.minimum"),
    "atan2": _smooth("torch.atan2"),
    "hypot": _smooth("torch.hypot"),
    "logaddexp": _smooth("torch.logaddexp"),
    "addcmul": _three("torch.addcmul"),
    "addcdiv": _three("torch.addcdiv"),
    "lerp": _lerp,
    "where": _where,
    "masked_fill": _masked_fill,
    "compare": _compare,
    "logical": _logical,
    "bitwise": _bitwise,
    "prelu": _prelu,
    "residual": _residual,
}
