"""Fragments about which values are computed, kept and overwritten: constants, copies, memory."""

from relaxcheck.generators.core.draft import Draft, Value, shape_value
from relaxcheck.generators.core.fills.kinds import Within
from relaxcheck.generators.core.polynomials import times
from relaxcheck.generators.graphs.choices import Choices
from relaxcheck.generators.graphs.fragments.calls import (
    begun,
    by,
    cast,
    concat,
    matmul,
    one,
    permuted,
    reduced,
    reshaped,
    rows,
    split,
    swapped,
    two,
    weight,
)
from relaxcheck.generators.graphs.fragments.fragment import fragment


@fragment("nothing constant", "a constant without elements", "a large constant", "of integers")
def constants(draft: Draft, choices: Choices, off: str) -> None:
    """Calls on constants alone, beside others."""
    size = {"a constant without elements": 0, "a large constant": 48}.get(off, 3)
    fixed, kind = off != "nothing constant", "int32" if off == "of integers" else draft.dtype
    first, second = (draft.input((4, size), kind, constant=fixed) for _ in range(2))
    total = two(draft, choices.choice(("add", "subtract", "multiply")), first, second)
    # A size of 0 in the new shape of a reshape is the operand's.
    match choices.below(4) if size else 0:
        case 0:
            total = permuted(draft, total, 1, 0)
        case 1:
            total = concat(draft, [total, first], 0)
        case 2:
            total = reshaped(draft, total, 2, 2, size)
        case _:
            full = draft.call("ones", [], (4, size), kind, shape=shape_value((4, size)), dtype=kind)
            total = two(draft, "add", total, full)
    if kind != draft.dtype:
        total = cast(draft, total, draft.dtype)
    lead: tuple[str | int, ...] = ("m",) if choices.rarely(2) else (2,)
    (value,) = begun(draft, (*lead, *((1,) * (total.rank - 1)), total.shape[-1]))
    if value.rank != total.rank or value.shape[0] != total.shape[0]:
        value = draft.input((1,) * (total.rank - 1) + total.shape[-1:])
    two(draft, "add", value, total)


@fragment("an operand of two orders", "attributes that differ", "one in another dtype")
def common(draft: Draft, choices: Choices, off: str) -> None:
    """The same calls written twice."""
    (value, other) = begun(draft, (rows(choices), 4), (4,))

    def once(again: bool) -> Value:
        operands = (other, value) if again and off == "an operand of two orders" else (value, other)
        if off == "an operand of two orders":
            total = two(draft, "subtract", *operands)
        else:
            total = two(draft, "add", *operands)
        axis = -2 if again and off == "attributes that differ" else -1
        draft.require(value.shape[axis], 1)
        if axis == -2:
            return draft.call("nn.softmax", [total], total.shape, axis=0)
        total = draft.call("nn.softmax", [total], total.shape, axis=1)
        if again and off == "one in another dtype":
            wide = "float64" if draft.dtype == "float32" else "float32"
            return cast(draft, cast(draft, total, wide), draft.dtype)
        return total

    first, second = once(False), once(True)
    if choices.below(2):
        first, second = one(draft, "exp", first), one(draft, "exp", second)
    two(draft, "multiply", first, second)


@fragment("items that differ", "another value")
def common_tuples(draft: Draft, choices: Choices, off: str) -> None:
    """The same tuple made twice, of which items are used."""
    (value,) = begun(draft, (rows(choices), 6))
    first = split(draft, value, (2, 4), 1)
    other = one(draft, "nn.relu", value) if off == "another value" else value
    again = split(draft, other, (2, 4), 1)
    concat(draft, [first[1], again[0 if off == "items that differ" else 1]], 1)
    two(draft, "add", one(draft, "exp", first[0]), one(draft, "exp", again[0]))


@fragment("a part that is used", "a dead tuple", "a chain that is dead")
def dead(draft: Draft, choices: Choices, off: str) -> None:
    """A call that nothing uses."""
    (value,) = begun(draft, (rows(choices), 4))
    kept = one(draft, "tanh", value)
    if off == "a dead tuple":
        gone = split(draft, kept, (1, 3), 1)
        one(draft, "nn.relu", gone[1])
        draft.dead = (*draft.dead, gone[0].name)
        return
    gone_too = reduced(draft, "sum", kept)
    if off == "a chain that is dead":
        gone_too = two(draft, "multiply", one(draft, "exp", gone_too), gone_too)
    if off != "a part that is used":
        draft.dead = (*draft.dead, gone_too.name)
    one(draft, "nn.relu", kept)


@fragment("read again later", "a view read again", "an operand that broadcasts", "both the same")
def in_place(draft: Draft, choices: Choices, off: str) -> None:
    """Sums and products that may overwrite an operand, since nothing reads it afterwards."""
    (value, other) = begun(draft, (rows(choices), 4), (1, 4))
    first = one(draft, "exp", value)
    view = reshaped(draft, first, times(4, first.shape[0])) if off == "a view read again" else first
    second = one(draft, "negative", value)
    if off == "an operand that broadcasts":
        second = one(draft, "negative", other)
    if off == "both the same":
        second = first
    total = two(draft, choices.choice(("add", "multiply", "subtract")), first, second)
    total = one(draft, choices.choice(("nn.silu", "nn.relu")), total)
    total = two(draft, "add", total, second) if choices.rarely(2) else total
    if off == "read again later":
        two(draft, "subtract", total, first)
    elif off == "a view read again":
        two(draft, "subtract", reshaped(draft, total, *view.shape), view)


@fragment("all returned", "none that live long", "of two dtypes")
def late(draft: Draft, choices: Choices, off: str) -> None:
    """Values that die late, while others of the same size come and go."""
    (value,) = begun(draft, (rows(choices), 4))
    first, second = one(draft, "exp", value), one(draft, "tanh", value)
    kept = [] if off == "none that live long" else [first, second]
    inner = two(draft, "add", first, second)
    for at in range(choices.choice((3, 2, 6))):
        inner = one(draft, choices.choice(("sigmoid", "nn.relu")), inner)
        inner = by(draft, "multiply", inner, 0.5)
        if off == "of two dtypes" and at == 1:
            inner = cast(draft, cast(draft, inner, "int32"), draft.dtype)
        if off == "all returned":
            permuted(draft, inner, 1, 0)
        turned = permuted(draft, inner, 1, 0)
        inner = two(draft, "add", inner, permuted(draft, turned, 1, 0))
    for each in kept:
        inner = two(draft, "subtract", inner, each)


@fragment("a weight of the run", "a weight used twice", "a constant that depends on a value")
def weights(draft: Draft, choices: Choices, off: str) -> None:
    """Weights that are permuted, joined or scaled before use, which may be lifted out."""
    (value,) = begun(draft, (rows(choices), 4))
    fixed = off != "a weight of the run"
    first = draft.input((3, 4), constant=fixed)
    turned = permuted(draft, first, 1, 0)
    if choices.below(2):
        turned = concat(draft, [turned, draft.input((4, 2), constant=fixed)], 1)
    if choices.rarely(2):
        turned = by(draft, "multiply", turned, 0.5)
    if off == "a constant that depends on a value":
        turned = two(draft, "multiply", turned, begun(draft, (4, 1))[0])
    result = matmul(draft, value, turned)
    if off == "a weight used twice":
        matmul(draft, matmul(draft, value, swapped(draft, first)), first)
    two(draft, "add", result, weight(draft, choices, result.shape[-1:]))


@fragment("another dtype", "after two calls", "of an input", "of a size that the data decide")
def cast_shapes(draft: Draft, choices: Choices, off: str) -> None:
    """A ``match_cast`` between calls that may be fused."""
    if off == "of a size that the data decide":
        counted = draft.operand((rows(choices), 4), "int32", fill=Within(2))
        places = draft.call("nonzero", [counted], (2, draft.count()), "int64")
        places = _matched(draft, places)
        total = two(draft, "add", places, places)
        one(draft, "negative", total)
        return
    (value,) = begun(draft, (rows(choices), 4))
    inner = value if off == "of an input" else one(draft, "exp", value)
    if off == "after two calls":
        inner = by(draft, "add", inner, 1.0)
    if off == "another dtype":
        inner = cast(draft, inner, "float32" if draft.dtype != "float32" else "float64")
    inner = _matched(draft, inner)
    total = two(draft, "add", inner, inner)
    one(draft, "tanh", total)


def _matched(draft: Draft, value: Value) -> Value:
    shape = shape_value(value.shape)
    return draft.call(
        "match_cast", [value], value.shape, value.dtype, shape=shape, dtype=value.dtype
    )
