"""Steps that move elements: each appends calls to a draft, or raises ``Unfit``."""

from collections.abc import Callable

from generators.dims import Dim, symbols
from generators.dynamic_draft import Draft, Unfit, Value, shape_value
from generators.polynomials import minus, over, plus, times
from generators.program import Attribute, Below, Literal

Step = Callable[[Draft], None]

STEPS: dict[str, Step] = {}

_FAR = 2**31 - 1


def step(name: str) -> Callable[[Step], Step]:
    """Enter a step under the operator that it is about."""

    def entered(function: Step) -> Step:
        STEPS[name] = function
        return function

    return entered


def tensor(draft: Draft, least: int = 1) -> Value:
    """The last value, if it has ``least`` axes and is a number."""
    value = draft.last
    if value.rank < least or value.dtype != draft.dtype:
        raise Unfit(f"no tensor of {least} axes")
    return value


def without_zeros(value: Value) -> Value:
    """``value``, if its shape can be written for ``reshape``: there 0 means "as it was"."""
    if 0 in value.shape:
        raise Unfit("a dimension that is the number 0")
    return value


def axis_of(draft: Draft, value: Value) -> int:
    """An axis of ``value``."""
    return draft.draw.below(value.rank)


def signed(draft: Draft, axis: int, rank: int) -> int:
    """``axis`` as it is, or counted from the end."""
    return axis - rank if draft.draw.chance(2) else axis


def but(shape: tuple[Dim, ...], axis: int, *dims: Dim) -> tuple[Dim, ...]:
    """``shape`` with ``dims`` in place of ``axis``."""
    return (*shape[:axis], *dims, *shape[axis + 1 :])


@step("reshape")
def _reshape(draft: Draft) -> None:
    value = without_zeros(tensor(draft))
    way = draft.draw.below(5)
    if way == 4:
        # There and back, to a shape that is itself a value.
        told = draft.call("shape_of", [value], (value.rank,), "int64")
        flat = draft.call("flatten", [value], (times(*value.shape),))
        draft.call("reshape", [flat, told], value.shape)
        return
    if way == 0 and value.rank > 1:
        axis = draft.draw.below(value.rank - 1)
        merged = times(value.shape[axis], value.shape[axis + 1])
        shape = (*value.shape[:axis], merged, *value.shape[axis + 2 :])
    elif way == 1:
        axis, factor = axis_of(draft, value), draft.draw.choice((2, 3, 4))
        dim = value.shape[axis]
        draft.require(dim, 0, factor)
        shape = but(value.shape, axis, *draft.draw.shuffled((over(dim, factor), factor)))
    elif way == 2:
        axis = axis_of(draft, value)
        shape = but(value.shape, axis, 1, value.shape[axis])
    else:
        # Everything but the last axis in one; its size is for the compiler to find.
        rest = times(*value.shape[:-1])
        draft.require(value.shape[-1], 1)
        target = (-1, value.shape[-1])
        result = (rest, value.shape[-1])
        draft.call("reshape", [value], result, shape=shape_value(target))
        return
    draft.call("reshape", [value], shape, shape=shape_value(shape))


@step("flatten")
def _flatten(draft: Draft) -> None:
    value = tensor(draft)
    draft.call("flatten", [value], (times(*value.shape),))


@step("permute_dims")
def _permute_dims(draft: Draft) -> None:
    value = tensor(draft, 2)
    if draft.draw.chance(4):
        draft.call("permute_dims", [value], value.shape[::-1])
        return
    axes = draft.draw.shuffled(range(value.rank))
    draft.call("permute_dims", [value], [value.shape[at] for at in axes], axes=axes)


@step("squeeze")
def _squeeze(draft: Draft) -> None:
    value = tensor(draft)
    ones = [at for at, dim in enumerate(value.shape) if dim == 1]
    if not ones:
        _expand_dims(draft)
        value = draft.last
        ones = [at for at, dim in enumerate(value.shape) if dim == 1]
    at = draft.draw.choice(ones)
    axis = signed(draft, at, value.rank)
    draft.call("squeeze", [value], but(value.shape, at), axis=(axis,))


@step("expand_dims")
def _expand_dims(draft: Draft) -> None:
    value = tensor(draft, 0)
    at = draft.draw.below(value.rank + 1)
    axis = signed(draft, at, value.rank + 1)
    shape = (*value.shape[:at], 1, *value.shape[at:])
    draft.call("expand_dims", [value], shape, axis=(axis,))


@step("broadcast_to")
def _broadcast_to(draft: Draft) -> None:
    value = tensor(draft)
    if draft.draw.chance(4):
        # To a shape that is itself a value.
        told = draft.call("shape_of", [value], (value.rank,), "int64")
        thin = draft.input([1 if draft.draw.chance(2) else dim for dim in value.shape])
        _settled(draft, draft.call("broadcast_to", [thin, told], value.shape))
        return
    at = axis_of(draft, value)
    if value.shape[at] != 1:
        value = draft.call(
            "expand_dims", [value], (*value.shape[:at], 1, *value.shape[at:]), axis=(at,)
        )
    shape = but(value.shape, at, another(draft))
    if draft.draw.chance(3):
        shape = (another(draft), *shape)
    draft.call("broadcast_to", [value], shape, shape=shape_value(shape))


def another(draft: Draft) -> Dim:
    """A size for a new axis: small and fixed, or some dimension of the program's inputs."""
    known = [dim for one in draft.inputs for dim in one.shape if symbols(dim)]
    if known and draft.draw.below(3):
        return draft.draw.choice(known)
    return draft.draw.choice((2, 3, 5))


@step("concat")
def _concat(draft: Draft) -> None:
    value = tensor(draft)
    at = axis_of(draft, value)
    alike = [
        each
        for each in draft.settled
        if each.dtype == value.dtype and but(each.shape, at) == but(value.shape, at)
        and each.rank == value.rank
    ]  # fmt: skip
    if draft.draw.chance(2):
        other = draft.input(but(value.shape, at, another(draft)))
    else:
        other = draft.draw.choice(alike)
    both = [value, other] if draft.draw.chance(2) else [other, value]
    shape = but(value.shape, at, plus(value.shape[at], other.shape[at]))
    draft.call("concat", both, shape, axis=signed(draft, at, value.rank))


@step("stack")
def _stack(draft: Draft) -> None:
    value = tensor(draft, 0)
    at = draft.draw.below(value.rank + 1)
    other = draft.input(value.shape) if draft.draw.chance(2) else value
    shape = (*value.shape[:at], 2, *value.shape[at:])
    draft.call("stack", [value, other], shape, axis=signed(draft, at, value.rank + 1))


@step("split")
def _split(draft: Draft) -> None:
    value = tensor(draft)
    at = axis_of(draft, value)
    dim = value.shape[at]
    if draft.draw.chance(2):
        cut = draft.draw.choice((1, 2, 3))
        draft.require(dim, cut)
        parts = draft.items(
            "split",
            [value],
            [but(value.shape, at, cut), but(value.shape, at, minus(dim, cut))],
            indices_or_sections=(cut,),
            axis=at,
        )
    else:
        count = draft.draw.choice((2, 3))
        draft.require(dim, 0, count)
        shape = but(value.shape, at, over(dim, count))
        parts = draft.items("split", [value], [shape] * count, indices_or_sections=count, axis=at)
    if draft.draw.chance(2):
        draft.call("concat", parts[::-1], value.shape, axis=at)


@step("flip")
def _flip(draft: Draft) -> None:
    value = tensor(draft)
    draft.call("flip", [value], value.shape, axis=axis_of(draft, value))


@step("repeat")
def _repeat(draft: Draft) -> None:
    value, count = tensor(draft), draft.draw.choice((2, 3, 1))
    if draft.draw.chance(5):
        draft.call("repeat", [value], (times(count, *value.shape),), repeats=count)
        return
    at = axis_of(draft, value)
    shape = but(value.shape, at, times(count, value.shape[at]))
    draft.call("repeat", [value], shape, repeats=count, axis=signed(draft, at, value.rank))


@step("tile")
def _tile(draft: Draft) -> None:
    value = tensor(draft)
    counts = tuple(draft.draw.choice((1, 2, 3)) for _ in range(value.rank))
    if draft.draw.chance(4):
        counts = (2, *counts)
    padded = (1,) * (len(counts) - value.rank) + value.shape
    shape = [times(count, dim) for count, dim in zip(counts, padded, strict=True)]
    draft.call("tile", [value], shape, repeats=counts)


@step("take")
def _take(draft: Draft) -> None:
    value = tensor(draft)
    at = axis_of(draft, value)
    draft.require(value.shape[at], 1)
    shape = draft.draw.choice(((3,), (another(draft),), (2, another(draft))))
    places = draft.input(shape, "int64", fill=Below(value.shape[at]))
    result = but(value.shape, at, *places.shape)
    draft.call("take", [value, places], result, axis=signed(draft, at, value.rank))


@step("gather_elements")
def _gather_elements(draft: Draft) -> None:
    value = tensor(draft)
    at = axis_of(draft, value)
    draft.require(value.shape[at], 1)
    shape = but(value.shape, at, draft.draw.choice((value.shape[at], 2, another(draft))))
    places = draft.input(shape, "int64", fill=Below(value.shape[at]))
    draft.call("gather_elements", [value, places], shape, axis=at)


@step("gather_nd")
def _gather_nd(draft: Draft) -> None:
    value = tensor(draft)
    draft.require(value.shape[0], 1)
    places = draft.input((another(draft), 1), "int64", fill=Below(value.shape[0]))
    draft.call("gather_nd", [value, places], (places.shape[0], *value.shape[1:]), batch_dims=0)


@step("strided_slice")
def _strided_slice(draft: Draft) -> None:
    value = tensor(draft)
    at = axis_of(draft, value)
    dim = value.shape[at]
    begin, stride = draft.draw.choice((0, 1, 2)), draft.draw.choice((1, 1, 2, 3))
    match draft.draw.below(4):
        case 0:
            # Backwards, the whole axis.
            draft.require(dim, 1)
            ends: Dim = -_FAR
            first, size, stride = -1, dim, -1
        case 1:
            draft.require(dim, begin)
            first, ends = begin, _FAR
            size = over(plus(minus(dim, begin), stride - 1), stride)
        case 2:
            draft.require(dim, begin + 1)
            first, ends = begin, -1
            size = over(plus(minus(dim, begin + 1), stride - 1), stride)
        case _:
            draft.require(dim, begin)
            first, ends = begin, dim
            size = over(plus(minus(dim, begin), stride - 1), stride)
    shape = but(value.shape, at, size)
    found = draft.call(
        "strided_slice",
        [value],
        shape,
        axes=(at,),
        begin=(first,),
        end=shape_value((ends,)) if symbols(ends) else (int(ends),),
        strides=(stride,),
    )
    if symbols(dim) and (ends in (_FAR, -_FAR) or symbols(ends)):
        # A far end is to TVM the smaller of the two, which broadcasts with no other dimension.
        _settled(draft, found)


@step("dynamic_strided_slice")
def _dynamic_strided_slice(draft: Draft) -> None:
    """From 1 on, along one axis; the result is cast to the shape that it has."""
    value = tensor(draft)
    at = axis_of(draft, value)
    draft.require(value.shape[at], 1)
    wanted = (
        tuple(int(axis == at) for axis in range(value.rank)),
        (_FAR,) * value.rank,
        (1,) * value.rank,
    )
    lists = [
        draft.input((value.rank,), "int64", fill=Literal(each), constant=True) for each in wanted
    ]
    shape = but(value.shape, at, minus(value.shape[at], 1))
    _settled(draft, draft.call("dynamic_strided_slice", [value, *lists], shape))


def _settled(draft: Draft, found: Value) -> None:
    """``found``, of whose shape TVM knows only the rank, cast to its shape; or a sum with it is.

    No other step takes what is not cast: of that TVM refuses some calls when they are made.
    """
    unknown = [found]
    if draft.draw.chance(3):
        unknown.append(draft.call("add", [found, draft.input(found.shape)], found.shape))
    draft.unsettled = (*draft.unsettled, *unknown)
    to = shape_value(found.shape)
    draft.call("match_cast", unknown[-1:], found.shape, shape=to, dtype=found.dtype)


@step("nn.pad")
def _pad(draft: Draft) -> None:
    value = tensor(draft)
    mode = draft.draw.choice(("constant", "reflect", "replicate", "circular"))
    width = [0] * (2 * value.rank)
    shape = list(value.shape)
    # Only constants pad other axes than the last.
    at = axis_of(draft, value) if mode == "constant" else value.rank - 1
    width[2 * at], width[2 * at + 1] = (draft.draw.choice((0, 1, 2)) for _ in range(2))
    most = max(width)
    draft.require(shape[at], {"reflect": most + 1, "circular": most, "replicate": 1}.get(mode, 0))
    shape[at] = plus(shape[at], sum(width))
    draft.call("nn.pad", [value], shape, pad_width=tuple(width), pad_mode=mode)


@step("astype")
def _astype(draft: Draft) -> None:
    """To another dtype and back."""
    value = tensor(draft, 0)
    to = draft.draw.choice([d for d in ("float16", "float64", "float32") if d != value.dtype])
    wide = draft.call("astype", [value], value.shape, to, dtype=to)
    draft.call("astype", [wide], value.shape, value.dtype, dtype=value.dtype)


@step("match_cast")
def _match_cast(draft: Draft) -> None:
    value = tensor(draft)
    draft.call(
        "match_cast", [value], value.shape, shape=shape_value(value.shape), dtype=value.dtype
    )


@step("shape_of")
def _shape_of(draft: Draft) -> None:
    """The shape as numbers, which scale the tensor's axes of that many elements."""
    value = tensor(draft)
    told = draft.call("shape_of", [value], (value.rank,), "int64")
    whole = draft.call("shape_to_tensor", [told], (value.rank,), "int64")
    sizes = draft.call("astype", [whole], (value.rank,), value.dtype, dtype=value.dtype)
    widened = draft.call("expand_dims", [value], (*value.shape, 1), axis=(-1,))
    draft.call("multiply", [widened, sizes], (*value.shape, value.rank))


def _made(operator: str) -> Step:
    def made(draft: Draft) -> None:
        value = tensor(draft)
        shape = shape_value(value.shape)
        given: dict[str, Attribute] = {"fill_value": 2} if operator == "full" else {}
        fresh = draft.call(
            operator, [], value.shape, value.dtype, shape=shape, dtype=value.dtype, **given
        )
        draft.call("add", [value, fresh], value.shape)

    return made


for _name in ("zeros", "ones", "full"):
    step(_name)(_made(_name))


@step("upsample")
def _upsample(draft: Draft) -> None:
    """Each element several times: broadcast along a new axis, which is then merged."""
    value, count = without_zeros(tensor(draft)), draft.draw.choice((2, 3))
    at = axis_of(draft, value)
    apart = but(value.shape, at, value.shape[at], 1)
    thin = draft.call("expand_dims", [value], apart, axis=(at + 1,))
    wide = but(value.shape, at, value.shape[at], count)
    full = draft.call("broadcast_to", [thin], wide, shape=shape_value(wide))
    merged = but(value.shape, at, times(count, value.shape[at]))
    draft.call("reshape", [full], merged, shape=shape_value(merged))


@step("where")
def _where(draft: Draft) -> None:
    value = tensor(draft)
    other = draft.input(value.shape)
    condition = draft.call("greater", [value, other], value.shape, "bool")
    draft.call("where", [condition, value, other], value.shape, value.dtype)
