"""Rules of operators that keep the valid part of a padded axis apart from the rest.

Operators that work element by element, or along other axes, do. One that reads along a padded axis
does if it only reads backwards (a sum from the start, a slice), or if the elements that it reads
past the end can be set (``padded/windows.py``). Operators without a rule are refused.
"""

from collections.abc import Callable, Iterator, Sequence
from math import prod

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.bucketing.padded import reductions
from relaxcheck.fixes.bucketing.padded.windows import adaptive_pool, convolution, pad, pool, resize
from relaxcheck.fixes.bucketing.padding import (
    End,
    Leak,
    Refill,
    Rule,
    Site,
    dims_in,
    has_symbol,
    holds_tensors,
    listed,
)
from relaxcheck.fixes.proving import needs as shape_needs
from relaxcheck.fixes.proving import prover
from relaxcheck.fixes.tvm_api import Call, PrimExpr, as_int, show
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes


def refills(call: Call, symbol: PrimExpr) -> list[Refill]:
    """The values needed past the ends of the arguments of ``call``.

    Raises:
        Leak: there is no rule for the operator, or its rule refuses.
    """
    site = Site(call, symbol)
    of_shapes = [n for n, argument in enumerate(call.args) if not holds_tensors(argument)]
    of_symbol = [
        number
        for number, argument in enumerate(call.args)
        if any(has_symbol(dim, symbol) for dim in dims_in(argument))
    ]
    if not of_symbol:
        return []
    rule = TABLE.get(site.name)
    if rule is None:
        why = "there is no rule for the operator"
        site.forbid(of_symbol[0], None, why)
        dims = show([dim for dim in dims_in(call.args[of_symbol[0]]) if has_symbol(dim, symbol)])
        raise Leak(f"{site.name}: argument {of_symbol[0]} has {dims}, and {why}")
    for number in set(of_shapes).intersection(of_symbol) - _SHAPE_ARGUMENTS.get(site.name, set()):
        dims = show([dim for dim in dims_in(call.args[number]) if has_symbol(dim, symbol)])
        raise Leak(f"{site.name}: argument {number}, which has {dims}, would be another one")
    types = [tvm_api.type_of(call.args[n]) for n in range(len(call.args))]
    if not all(map(tvm_api_shapes.is_known, [*types, tvm_api.type_of(call)])):
        raise Leak(f"{site.name}: the dimensions of its arguments and its result must be known")
    return list(rule(site))


def _separate(site: Site) -> Iterator[Refill]:
    """Each element of the result depends only on those at its position."""
    yield from ()


def _quotient(site: Site) -> Iterator[Refill]:
    """Element by element, except that dividing integers by padded zeros would end the process."""
    if "int" in tvm_api.dtype_of(site.type(1)):
        for axis in site.padded(1):
            yield Refill(1, axis, 1)


def _norm(site: Site) -> Iterator[Refill]:
    why = "it is normalized over, with what stands past the end"
    site.forbid(0, listed(site.call.attrs.axes), why)
    if site.name == "nn.group_norm":
        site.forbid(0, [int(site.call.attrs.channel_axis)], why)
    yield from ()


def _batch_norm(site: Site) -> Iterator[Refill]:
    attrs = site.call.attrs
    if bool(attrs.training):
        others = set(range(site.rank(0))) - {int(attrs.axis) % site.rank(0)}
        site.forbid(0, others, "in training, statistics are taken over it")
    yield from ()


def _scan(site: Site) -> Iterator[Refill]:
    """Reads from the start on, so the end comes last. If flattened, true only for axis 0."""
    if site.call.attrs.axis is None:
        site.forbid(0, range(1, site.rank(0)), "it is flattened, which would put other elements in")
    yield from ()


def _reversing(site: Site) -> Iterator[Refill]:
    site.forbid(0, [int(site.call.attrs.axis)], "what stands past the end would come first")
    yield from ()


def _ordering(site: Site) -> Iterator[Refill]:
    why = "what stands past the end would be sorted in"
    site.forbid(0, [int(site.call.attrs.axis)], why)
    yield from ()


def _split(site: Site) -> Iterator[Refill]:
    site.forbid(0, [int(site.call.attrs.axis)], "it would be split at other places")
    yield from ()


def _take(site: Site) -> Iterator[Refill]:
    """An index past the end of the indices must exist."""
    axis = site.call.attrs.axis
    site.forbid(0, [0 if axis is None else int(axis)], "indices are counted from its end, or cut")
    for padded in site.padded(1):
        yield Refill(1, padded, 0)


def _concat(site: Site) -> Iterator[Refill]:
    """The tensors behind a padded one would move."""
    fields = tvm_api_shapes.fields_of(site.type(0))
    axis = int(site.call.attrs.axis) % site.rank(0)
    for field in fields[:-1]:
        dim = (tvm_api_shapes.dims_of(field) or [])[axis]
        if has_symbol(dim, site.symbol):
            raise Leak(
                f"{site.name}: axis {axis} of a tensor before the last, which is {show(dim)},"
                " cannot be padded: what follows it would come after the padding"
            )
    yield from ()


def _slice(site: Site) -> Iterator[Refill]:
    """Reads forwards from a place that does not depend on the end."""
    numbers = [dims_in(argument) for argument in site.call.args[1:]]
    axes, begins = numbers[0], numbers[1]
    steps = numbers[3] if len(numbers) > 3 else []
    padded = site.padded(0)
    for number, dim in enumerate(axes):
        axis = (as_int(dim) or 0) % site.rank(0)
        begin, step = as_int(begins[number]), as_int(steps[number]) if steps else 1
        if axis in padded and (begin is None or begin < 0):
            why = f"the slice begins at {show(begins[number])}, counted from its end"
            raise site.leak(0, axis, why)
        if axis in padded and (step is None or step < 0):
            raise site.leak(0, axis, "the slice is taken backwards")
    yield from ()


def _repeat(site: Site) -> Iterator[Refill]:
    if site.call.attrs.axis is None:
        site.forbid(0, range(1, site.rank(0)), "it is flattened, which would put other elements in")
    yield from ()


def _squeeze(site: Site) -> Iterator[Refill]:
    axes = site.call.attrs.axis
    site.forbid(0, [] if axes is None else listed(axes), "it would not be 1 any more")
    yield from ()


def _broadcast_to(site: Site) -> Iterator[Refill]:
    """A dimension of the argument other than 1 must be the same in the result."""
    have, want = site.dims(0), site.dims(-1)
    for back, (dim, other) in enumerate(zip(reversed(have), reversed(want), strict=False), start=1):
        if as_int(dim) != 1 and not prover.equal(dim, other):
            why = f"it is {show(other)} in the result"
            raise site.leak(0, len(have) - back, why)
    yield from ()


def _reshape(site: Site) -> Iterator[Refill]:
    """A padded axis may be merged with axes behind it, or split, but not merged with one before it.

    If the numbers of elements before them agree, blocks of one padded axis and the axes behind it
    occupy the same memory in both.
    """
    have, want = _blocks(site, 0), _blocks(site, -1)
    if len(have) != len(want):
        raise _reordered(site)
    for number, (left, right) in enumerate(zip(have, want, strict=True)):
        # The first block precedes every padded axis; the last then has the same size in both.
        last = 0 < number == len(have) - 1
        if not last and not prover.equal(_product(left), _product(right)):
            raise _reordered(site)
    yield from ()


def _blocks(site: Site, argument: int) -> list[list[PrimExpr]]:
    """The dimensions, cut before each padded axis."""
    dims, cuts = site.dims(argument), site.padded(argument)
    ends = [*cuts, len(dims)]
    return [dims[start:end] for start, end in zip([0, *cuts], ends, strict=True)]


def _reordered(site: Site) -> Leak:
    shapes = f"{show(site.dims(0))} to {show(site.dims(-1))}"
    axes = ", ".join(map(str, site.padded(0)))
    return Leak(f"{site.name}: {shapes} moves what stands past the end of axis {axes} in between")


def _product(dims: Sequence[PrimExpr]) -> PrimExpr:
    return prod(dims, start=tvm_api.integer(1))


def _named(rule: Callable[[Site], Iterator[Refill]], names: str) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


_RANKS = ("1d", "2d", "3d")

TABLE: dict[str, Rule] = {
    **dict.fromkeys((name.removeprefix("relax.") for name in shape_needs.ELEMENTWISE), _separate),
    **_named(
        _separate,
        "abs acos acosh asin asinh atan atanh bitwise_not ceil cos cosh erf exp floor isfinite"
        " isinf isnan log logical_not negative round rsqrt sigmoid sign sin sinh sqrt square tan"
        " tanh trunc clip astype atan2 log_add_exp ewise_fma nn.relu nn.gelu nn.gelu_tanh nn.silu"
        " nn.selu nn.leakyrelu nn.softplus nn.prelu full zeros ones full_like zeros_like ones_like"
        " arange permute_dims expand_dims stack tril triu one_hot",
    ),
    **_named(_quotient, "divide floor_divide mod floor_mod"),
    "sum": reductions.filled_with(0),
    "prod": reductions.filled_with(1),
    "max": reductions.filled_with(End.LEAST),
    "min": reductions.filled_with(End.GREATEST),
    "argmax": reductions.place(End.LEAST),
    "argmin": reductions.place(End.GREATEST),
    **_named(reductions.counted, "mean variance std"),
    **_named(reductions.softmax, "nn.softmax nn.log_softmax"),
    **_named(_norm, "nn.layer_norm nn.rms_norm nn.group_norm nn.instance_norm"),
    **_named(_batch_norm, "nn.batch_norm"),
    **_named(_scan, "cumsum cumprod"),
    **_named(_reversing, "flip"),
    **_named(_ordering, "sort argsort topk"),
    **_named(_split, "split"),
    "matmul": reductions.matmul,
    **_named(reductions.attention, "nn.attention nn.attention_bias"),
    **_named(_take, "take"),
    **_named(_concat, "concat"),
    **_named(_slice, "strided_slice"),
    **_named(_repeat, "repeat"),
    **_named(_squeeze, "squeeze"),
    **_named(_broadcast_to, "broadcast_to"),
    **_named(_reshape, "reshape flatten nn.batch_flatten"),
    **_named(convolution, " ".join(f"nn.conv{r} nn.conv{r}_transpose" for r in _RANKS)),
    **_named(pool, " ".join(f"nn.max_pool{r} nn.avg_pool{r}" for r in _RANKS)),
    **_named(adaptive_pool, " ".join(f"nn.adaptive_avg_pool{r}" for r in _RANKS)),
    **_named(resize, "image.resize2d"),
    **_named(pad, "nn.pad"),
}
"""The rule of each operator."""

_SHAPE_ARGUMENTS: dict[str, set[int]] = {
    "reshape": {1},
    "broadcast_to": {1},
    "full": {0},
    "zeros": {0},
    "ones": {0},
    "arange": {1},
    "strided_slice": {3},
    "image.resize2d": {1},
}
"""The arguments that are a size or an end, and so may grow with the axis."""
