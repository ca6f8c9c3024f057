"""Steps of one operand that compute element by element."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from relaxcheck.generators.torch.graphs.drafting import Drafting, dtype
from relaxcheck.generators.torch.graphs.steps.step import FUNCTIONAL, METHOD, Step
from relaxcheck.generators.torch.graphs.wire import Wire
from relaxcheck.generators.torch.program import Argument

KEEPS, ROUNDS, JUMPS = "keeps", "rounds", "jumps"
"""The ways of a function: exact values stay exact; results are rounded; where an operand is a bit
off a result may be far off, so that only exact ones are taken."""

FLOAT, NUMBER, ANY = "float", "number", "any"
"""The operands of a function: floats; integers too; all, where the float dtype of the result is
that of ``torch.get_default_dtype`` for what is no float."""

Keywords = Mapping[str, Argument]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of one operand: ``variants`` are keywords to choose from."""

    target: str
    way: str = ROUNDS
    takes: str = FLOAT
    variants: tuple[Keywords, ...] = ({},)

    def step(self, draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        """Add a call."""
        fits = {FLOAT: wire.is_float, NUMBER: wire.is_float or wire.is_integer, ANY: True}
        if not fits[self.takes] or (self.way == JUMPS and not wire.exact):
            return None
        promotes = self.takes == ANY and not wire.is_float
        return draft.call(
            self.target,
            wire,
            shape=wire.shape,
            gives="float32" if promotes else wire.dtype,
            exact=self.way != ROUNDS and wire.exact,
            **random.choice(self.variants),
        )


def _each(way: str, takes: str, prefix: str, *names: str) -> dict[str, Function]:
    return {name: Function(f"{prefix}.{name}", way, takes) for name in names}


_APPROXIMATE: tuple[Keywords, ...] = ({"approximate": "tanh"}, {})

FUNCTIONS: Mapping[str, Function] = {
    **_each(KEEPS, NUMBER, "torch", "relu", "neg", "abs"),
    **_each(KEEPS, FLOAT, FUNCTIONAL, "relu6"),
    **_each(ROUNDS, ANY, "torch", "tanh", "sigmoid", "erf", "sin", "cos", "atan", "asinh"),
    **_each(ROUNDS, FLOAT, "torch", "square", "expm1"),
    **_each(ROUNDS, FLOAT, FUNCTIONAL, "mish", "hardswish", "softsign", "logsigmoid", "tanhshrink"),
    **_each(ROUNDS, FLOAT, FUNCTIONAL, "silu", "selu", "hardsigmoid"),
    "gelu": Function(f"{FUNCTIONAL}.gelu", variants=_APPROXIMATE),
    "elu": Function(f"{FUNCTIONAL}.elu", variants=({"alpha": 0.5}, {})),
    "celu": Function(f"{FUNCTIONAL}.celu", variants=({"alpha": 2.0}, {})),
    "leaky_relu": Function(f"{FUNCTIONAL}.leaky_relu", variants=({"negative_slope": 0.25}, {})),
    "hardtanh": Function(
        f"{FUNCTIONAL}.hardtanh", KEEPS, variants=({"min_val": -0.5, "max_val": 0.75}, {})
    ),
    "softplus": Function(
        f"{FUNCTIONAL}.softplus", variants=({"beta": 2.0}, {}, {"beta": 0.5, "threshold": 1.0})
    ),
    "softshrink": Function(f"{FUNCTIONAL}.softshrink", variants=({"lambd": 0.25}, {})),
    "hardshrink": Function(f"{FUNCTIONAL}.hardshrink", JUMPS, variants=({"lambd": 0.25}, {})),
    "clamp": Function(
        "torch.clamp",
        KEEPS,
        NUMBER,
        ({"min": -1, "max": 2}, {"min": 0}, {"max": 1}),
    ),
    "nan_to_num": Function(
        "torch.nan_to_num", KEEPS, variants=({}, {"nan": 2.0, "posinf": 4.0, "neginf": -4.0})
    ),
    "round": Function("torch.round", JUMPS, variants=({}, {"decimals": 0})),
    **_each(JUMPS, FLOAT, "torch", "floor", "ceil", "trunc", "sign"),
}
"""The functions whose results have the shape of their operand."""


def _from(least: int, target: str) -> Step:
    """A function of ``x * x`` plus ``least``."""

    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        if not wire.is_float:
            return None
        squared = draft.call("torch.mul", wire, wire, shape=wire.shape, gives=wire.dtype)
        moved = draft.call("torch.add", squared, least, shape=wire.shape, gives=wire.dtype)
        return draft.call(target, moved, shape=wire.shape, gives=wire.dtype)

    return step


def _power(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.is_float:
        return None
    exponent = random.choice((2, 3, 2.0, 1))
    return draft.call("torch.pow", wire, exponent, shape=wire.shape, gives=wire.dtype)


def _base(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """A number to the power of the value."""
    if not wire.is_float:
        return None
    return draft.call("torch.pow", 2.0, wire, shape=wire.shape, gives=wire.dtype)


def _cast(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Another dtype: a wider float, or a float of what is none."""
    if wire.is_float:
        wider = {"float16": "float32", "bfloat16": "float32", "float32": "float64"}
        other = wider.get(wire.dtype, "float32")
    else:
        other = random.choice(("float32", "int64", "int32"))
    keeps = wire.exact
    if random.random() < 0.5:
        return draft.call(
            f"{METHOD}.to", wire, dtype(other), shape=wire.shape, gives=other, exact=keeps
        )
    method = {"float32": "float", "float64": "double", "int64": "long", "int32": "int"}[other]
    return draft.call(f"{METHOD}.{method}", wire, shape=wire.shape, gives=other, exact=keeps)


def _softmax(name: str) -> Step:
    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        if not wire.is_float or not wire.rank:
            return None
        axis = random.randrange(-wire.rank, wire.rank)
        if wire.dtype == "float64" or random.random() < 0.75:
            return draft.call(
                f"{FUNCTIONAL}.{name}", wire, shape=wire.shape, gives=wire.dtype, dim=axis
            )
        return draft.call(
            f"{FUNCTIONAL}.{name}",
            wire,
            shape=wire.shape,
            gives="float64",
            dim=axis,
            dtype=dtype("float64"),
        )

    return step


def _glu(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    places = [at for at in wire.fixed(2) if int(wire.shape[at]) % 2 == 0]
    if not wire.is_float or not places:
        return None
    axis = random.choice(places)
    shape = wire.replaced(axis, int(wire.shape[axis]) // 2)
    return draft.call(f"{FUNCTIONAL}.glu", wire, axis, shape=shape, gives=wire.dtype)


def _normalize(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.is_float or not wire.rank:
        return None
    axis = random.randrange(-wire.rank, wire.rank)
    keywords: dict[str, Any] = random.choice(({}, {"p": 1.0}, {"eps": 0.25}))
    return draft.call(
        f"{FUNCTIONAL}.normalize", wire, shape=wire.shape, gives=wire.dtype, dim=axis, **keywords
    )


def _layer_norm(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    last = wire.shape[-1] if wire.rank else 0
    if not wire.is_float or not isinstance(last, int) or last < 2:
        return None
    keywords: dict[str, Any] = {"eps": random.choice((0.5, 1e-5))}
    if random.random() < 0.5:
        keywords |= {
            "weight": draft.weight((last,), wire.dtype),
            "bias": draft.weight((last,), wire.dtype),
        }
    return draft.call(
        f"{FUNCTIONAL}.layer_norm", wire, (last,), shape=wire.shape, gives=wire.dtype, **keywords
    )


def _identity(target: str) -> Step:
    """A call that gives its operand, or a copy of it."""

    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        return draft.call(target, wire, shape=wire.shape, gives=wire.dtype, exact=wire.exact)

    return step


def _dropout(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.is_float:
        return None
    return draft.call(
        f"{FUNCTIONAL}.dropout",
        wire,
        0.5,
        shape=wire.shape,
        gives=wire.dtype,
        exact=wire.exact,
        training=False,
    )


STEPS: Mapping[str, Step] = {
    **{name: function.step for name, function in FUNCTIONS.items()},
    "sqrt": _from(1, "torch.sqrt"),
    "rsqrt": _from(1, "torch.rsqrt"),
    "log": _from(1, "torch.log"),
    "log1p": _from(0, "torch.log1p"),
    "log2": _from(1, "torch.log2"),
    "reciprocal": _from(1, "torch.reciprocal"),
    "pow": _power,
    "pow-of-number": _base,
    "cast": _cast,
    "softmax": _softmax("softmax"),
    "log_softmax": _softmax("log_softmax"),
    "glu": _glu,
    "normalize": _normalize,
    "layer_norm": _layer_norm,
    "clone": _identity(f"{METHOD}.clone"),
    "contiguous": _identity(f"{METHOD}.contiguous"),
    "detach": _identity(f"{METHOD}.detach"),
    "dropout": _dropout,
}
