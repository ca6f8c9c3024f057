"""Steps that compute: each appends calls to a draft, or raises ``Unfit``."""

from generators.dims import Dim
from generators.dynamic_draft import Draft, Unfit, Value
from generators.dynamic_movement import Step, another, axis_of, but, signed, tensor
from generators.program import Attribute, Literal

STEPS: dict[str, Step] = {}


def _scalar(draft: Draft, value: float) -> Value:
    """A constant without axes."""
    return draft.input((), fill=Literal((value,)), constant=True)


def _unary(operator: str) -> Step:
    def applied(draft: Draft) -> None:
        value = tensor(draft, 0)
        draft.call(operator, [value], value.shape)

    return applied


for _name in ("negative", "abs", "exp", "sigmoid", "tanh", "nn.gelu", "nn.gelu_tanh", "nn.silu",
              "nn.relu"):  # fmt: skip
    STEPS[_name] = _unary(_name)


def _of_positive(operator: str) -> Step:
    def applied(draft: Draft) -> None:
        value = tensor(draft, 0)
        size = draft.call("abs", [value], value.shape)
        above = draft.call("add", [size, _scalar(draft, 0.5)], value.shape)
        draft.call(operator, [above], value.shape)

    return applied


for _name in ("log", "sqrt", "rsqrt"):
    STEPS[_name] = _of_positive(_name)


def _leakyrelu(draft: Draft) -> None:
    value = tensor(draft, 0)
    draft.call("nn.leakyrelu", [value], value.shape, alpha=0.25)


def _clip(draft: Draft) -> None:
    value = tensor(draft, 0)
    draft.call("clip", [value], value.shape, min=-1, max=1.5)


STEPS |= {"nn.leakyrelu": _leakyrelu, "clip": _clip}


def _partner(draft: Draft, value: Value) -> tuple[Value, tuple[Dim, ...]]:
    """Another operand that ``value`` broadcasts with, and the shape of the two."""
    match draft.draw.below(5):
        case 0:
            alike = [
                each
                for each in draft.settled
                if each.shape == value.shape and each.dtype == value.dtype
            ]
            return draft.draw.choice(alike), value.shape
        case 1:
            return _scalar(draft, draft.draw.choice((2, -1, 0.5))), value.shape
        case 2:
            keep = draft.draw.below(value.rank + 1)
            return draft.input(value.shape[keep:]), value.shape
        case 3:
            shape = tuple(1 if draft.draw.chance(2) else dim for dim in value.shape)
            return draft.input(shape), value.shape
    # The operand may also be the one that is broadcast.
    full = tuple(another(draft) if dim == 1 else dim for dim in value.shape)
    if draft.draw.chance(3):
        full = (another(draft), *full)
    return draft.input(full), full


def _binary(operator: str) -> Step:
    def applied(draft: Draft) -> None:
        value = tensor(draft, 0)
        other, shape = _partner(draft, value)
        if operator == "divide":
            size = draft.call("abs", [other], other.shape)
            other = draft.call("add", [size, _scalar(draft, 1)], other.shape)
        both = [value, other] if operator == "divide" or draft.draw.chance(2) else [other, value]
        draft.call(operator, both, shape)

    return applied


for _name in ("add", "subtract", "multiply", "divide", "maximum", "minimum"):
    STEPS[_name] = _binary(_name)


def _power(draft: Draft) -> None:
    value = tensor(draft, 0)
    draft.call("power", [value, _scalar(draft, draft.draw.choice((2, 3)))], value.shape)


STEPS["power"] = _power


def _compared(operator: str) -> Step:
    def applied(draft: Draft) -> None:
        """The truth as numbers, so that other steps can follow."""
        value = tensor(draft, 0)
        other, shape = _partner(draft, value)
        truth = draft.call(operator, [value, other], shape, "bool")
        draft.call("astype", [truth], shape, value.dtype, dtype=value.dtype)

    return applied


for _name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
    STEPS[_name] = _compared(_name)


def _whole(operator: str) -> Step:
    def applied(draft: Draft) -> None:
        """Integers of the value's shape divided by a constant; then added as numbers."""
        value = tensor(draft, 0)
        fill = Literal((draft.draw.choice((2, 3, -2)),))
        whole = draft.input(value.shape, "int32")
        by = draft.input((), "int32", fill=fill, constant=True)
        found = draft.call(operator, [whole, by], value.shape, "int32")
        number = draft.call("astype", [found], value.shape, value.dtype, dtype=value.dtype)
        draft.call("add", [value, number], value.shape)

    return applied


for _name in ("floor_divide", "floor_mod"):
    STEPS[_name] = _whole(_name)


def _matmul(draft: Draft) -> None:
    value = tensor(draft)
    inner, wide = value.shape[-1], draft.draw.choice((1, 3, 4, another(draft)))
    if draft.draw.chance(4) or value.rank < 3:
        other = draft.input((inner, wide))
    else:
        other = draft.input((*value.shape[:-2], inner, wide))
    draft.call("matmul", [value, other], (*value.shape[:-1], wide))


STEPS["matmul"] = _matmul


def _along(operator: str) -> Step:
    def applied(draft: Draft) -> None:
        value = tensor(draft)
        at = axis_of(draft, value)
        draft.call(operator, [value], value.shape, axis=signed(draft, at, value.rank))

    return applied


for _name in ("nn.softmax", "nn.log_softmax", "cumsum", "cumprod"):
    STEPS[_name] = _along(_name)


def _reduction(operator: str) -> Step:
    def applied(draft: Draft) -> None:
        value = tensor(draft)
        axes = [at for at in range(value.rank) if draft.draw.chance(2)] or [value.rank - 1]
        if operator not in ("sum", "prod"):
            for at in axes:
                draft.require(value.shape[at], 1)
        keep = draft.draw.chance(2)
        shape = [
            1 if at in axes else dim for at, dim in enumerate(value.shape) if keep or at not in axes
        ]
        given: dict[str, Attribute] = {"axis": tuple(axes)}
        if len(axes) == value.rank and draft.draw.chance(2):
            given = {}
        draft.call(operator, [value], shape, keepdims=keep, **given)

    return applied


for _name in ("sum", "prod", "mean", "max", "min", "variance", "std"):
    STEPS[_name] = _reduction(_name)


def _place(operator: str) -> Step:
    def applied(draft: Draft) -> None:
        value = tensor(draft)
        at, keep = axis_of(draft, value), draft.draw.chance(2)
        draft.require(value.shape[at], 1)
        shape = but(value.shape, at, 1) if keep else but(value.shape, at)
        found = draft.call(operator, [value], shape, "int64", axis=at, keepdims=keep)
        draft.call("astype", [found], shape, value.dtype, dtype=value.dtype)

    return applied


for _name in ("argmax", "argmin"):
    STEPS[_name] = _place(_name)


def _trailing(operator: str) -> Step:
    def applied(draft: Draft) -> None:
        value = tensor(draft)
        first = value.rank - 1 if value.rank < 2 or draft.draw.below(3) else value.rank - 2
        axes = tuple(range(first, value.rank))
        for at in axes:
            draft.require(value.shape[at], 1)
        count = 1 if operator == "nn.rms_norm" else 2
        scales = [draft.input(value.shape[first:]) for _ in range(count)]
        draft.call(operator, [value, *scales], value.shape, axes=axes)

    return applied


for _name in ("nn.layer_norm", "nn.rms_norm"):
    STEPS[_name] = _trailing(_name)


def _by_channel(operator: str) -> Step:
    def applied(draft: Draft) -> None:
        value = tensor(draft, 3)
        channels, axes = value.shape[1], tuple(range(2, value.rank))
        for dim in value.shape[1:]:
            draft.require(dim, 1)
        scales = [draft.input((channels,)) for _ in range(2)]
        given: dict[str, Attribute] = {}
        if operator == "nn.group_norm":
            groups = draft.draw.choice((1, 2, 4))
            if not isinstance(channels, int) or channels % groups:
                raise Unfit("no whole groups")
            given = {"num_groups": groups}
        draft.call(operator, [value, *scales], value.shape, channel_axis=1, axes=axes, **given)

    return applied


for _name in ("nn.group_norm", "nn.instance_norm"):
    STEPS[_name] = _by_channel(_name)


def _batch_norm(draft: Draft) -> None:
    value = tensor(draft, 2)
    for at, dim in enumerate(value.shape):
        if at != 1:
            draft.require(dim, 1)
    scale, shift, mean, spread = (draft.input((value.shape[1],)) for _ in range(4))
    # A variance is not negative.
    spread = draft.call("abs", [spread], spread.shape)
    training = draft.draw.chance(2)
    draft.items(
        "nn.batch_norm",
        [value, scale, shift, mean, spread],
        [value.shape],
        axis=1,
        training=training,
    )


STEPS["nn.batch_norm"] = _batch_norm


def _expanded(draft: Draft) -> None:
    """What broadcasts a vector against itself: sizes that only run time knows to be equal."""
    value = tensor(draft)
    down = draft.call("expand_dims", [value], (*value.shape, 1), axis=(-1,))
    right = draft.call("expand_dims", [value], (*value.shape[:-1], 1, value.shape[-1]), axis=(-2,))
    shape = (*value.shape, value.shape[-1])
    draft.call("subtract", [down, right], shape)


STEPS["broadcast"] = _expanded
