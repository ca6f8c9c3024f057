"""The needs of each operator: conditions on the dimensions of its arguments.

TVM checks at compile time what it can decide. It assumes that symbolic dimensions go together; if
they do not, the compiled program reads out of bounds or computes something else.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api import Call, Expr, PrimExpr, as_int, equal, floormod, integer, show
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from relaxcheck.fixes.tvm_api.shapes import any_of, dims_of

Dims = list[PrimExpr]


@dataclass(frozen=True, slots=True)
class Need:
    """``condition`` must hold, as ``why`` explains; it is about ``values``.

    ``equal``: it requires two dimensions of arguments to be equal.
    """

    condition: PrimExpr
    why: str
    values: tuple[PrimExpr, ...]
    equal: bool = False


def of(call: Call) -> Iterator[Need]:
    """The needs of ``call``; none for an operator that is not in the table.

    Skips unknown dimensions. Needs may be true or false whatever the symbols are.
    """
    find = TABLE.get(str(getattr(call.op, "name", "")))
    if find is not None:
        yield from find(call)


def same(left: PrimExpr, right: PrimExpr, noun: str) -> Need:
    """Two dimensions must be equal."""
    why = f"{noun} {show(left)} and {show(right)} must be equal"
    return Need(equal(left, right), why, (left, right), equal=True)


def broadcast(left: Dims, right: Dims) -> Iterator[Need]:
    """Two shapes must broadcast, by NumPy's rules."""
    for dim, other in zip(reversed(left), reversed(right), strict=False):
        numbers = as_int(dim), as_int(other)
        if 1 in numbers or numbers[0] == numbers[1] is not None:
            continue
        cases = [equal(dim, other)]
        cases += [equal(d, 1) for d, n in zip((dim, other), numbers, strict=True) if n is None]
        why = f"dimensions {show(dim)} and {show(other)} must be equal, or one of them 1"
        yield Need(any_of(cases), why, (dim, other))


def _dims(expr: Expr) -> Dims | None:
    return dims_of(tvm_api.type_of(expr))


def _elementwise(call: Call) -> Iterator[Need]:
    shapes = [_dims(argument) for argument in call.args]
    for number, right in enumerate(shapes):
        for left in shapes[:number]:
            if left is not None and right is not None:
                yield from broadcast(left, right)


def _matmul(call: Call) -> Iterator[Need]:
    left, right = map(_dims, call.args)
    if not left or not right:
        return
    yield same(left[-1], right[-2 if len(right) > 1 else -1], "contracted dimensions")
    yield from broadcast(left[:-2], right[:-2])


def _multiple(dim: PrimExpr, factor: int | PrimExpr, noun: str) -> Need:
    safe = factor
    if as_int(factor) is None:
        # The remainder is computed even if the other condition fails.
        safe = tvm_api_shapes.select(equal(factor, 0), integer(1), factor)
    conditions = [equal(floormod(dim, safe), 0)]
    if safe is not factor:
        conditions.append(tvm_api.negated(equal(factor, 0)))
    why = f"{noun} {show(dim)} must be a multiple of {show(factor)}"
    values = (dim,) if as_int(factor) is not None else (dim, factor)
    return Need(tvm_api_shapes.all_of(conditions), why, values)


def _at_least(dim: PrimExpr, least: int, noun: str) -> Need:
    return Need(dim >= least, f"{noun} {show(dim)} must be at least {least}", (dim,))


def _spatial(layout: str, dims: Dims) -> Dims:
    """The dimensions along which a window moves, in the order of its parameters: D, H, W."""
    return [dims[layout.index(letter)] for letter in "DHW" if letter in layout]


def _convolution(call: Call) -> Iterator[Need]:
    data, kernel = map(_dims, call.args)
    layouts = [str(call.attrs.data_layout), str(call.attrs.kernel_layout)]
    if data is None or kernel is None or not "".join(layouts).isalpha():
        return
    channels, groups = data[layouts[0].index("C")], int(call.attrs.groups)
    inner, outer = (kernel[layouts[1].index(letter)] for letter in "IO")
    if "transpose" in call.op.name:
        yield same(channels, inner, "channels of data and kernel")
        if groups != 1:
            yield _multiple(channels, groups, "channels")
        return
    yield same(channels, inner * groups, "channels of data and kernel")
    if groups != 1:
        yield _multiple(outer, groups, "output channels")
    attrs = call.attrs
    pads = [int(pad) for pad in attrs.padding]
    sizes = zip(_spatial(layouts[0], data), _spatial(layouts[1], kernel), strict=True)
    for axis, (size, taps) in enumerate(sizes):
        padding = pads[axis] + pads[axis + len(pads) // 2]
        window = (taps - 1) * int(attrs.dilation[axis]) + 1
        yield _fits(size, padding, window, "window of")


def _fits(size: PrimExpr, padding: int, window: PrimExpr, noun: str) -> Need:
    padded = f" and padding {padding}" * bool(padding)
    why = f"{noun} {show(window)} must fit into the dimension {show(size)}{padded}"
    return Need(size + padding >= window, why, (window, size))


def _pool(call: Call) -> Iterator[Need]:
    data, result = _dims(call.args[0]), _dims(call)
    layout = str(call.attrs.layout)
    out_layout = str(call.attrs.out_layout) or layout
    if data is None or result is None or not (layout + out_layout).isalpha():
        return
    if "adaptive" in call.op.name:
        for size in _spatial(layout, data):
            yield _at_least(size, 1, "dimension")
        return
    # Where windows may overhang, even a dimension smaller than the window may give an output.
    for size, out in zip(_spatial(layout, data), _spatial(out_layout, result), strict=True):
        why = f"the dimension {show(size)} must be large enough for the window"
        yield Need(out >= 1, why, (size,))


def _product(dims: Dims) -> PrimExpr:
    return prod(dims, start=integer(1))


def _reshape(call: Call) -> Iterator[Need]:
    data, result = _dims(call.args[0]), _dims(call)
    if data is not None and result is not None:
        left, right = _product(data), _product(result)
        why = f"{show(data)} and {show(result)} must have as many elements"
        yield Need(equal(left, right), why, (left, right))


def _broadcast_to(call: Call) -> Iterator[Need]:
    data, result = _dims(call.args[0]), _dims(call)
    if data is None or result is None:
        return
    for dim, other in zip(reversed(data), reversed(result), strict=False):
        number = as_int(dim)
        if number == 1:
            continue
        cases = [equal(dim, other), *([equal(dim, 1)] if number is None else [])]
        why = f"the dimension {show(dim)} must be {show(other)}, or 1"
        yield Need(any_of(cases), why, (dim, other))


def _concat(call: Call) -> Iterator[Need]:
    shapes = [dims_of(field) for field in tvm_api_shapes.fields_of(tvm_api.type_of(call.args[0]))]
    known = [dims for dims in shapes if dims is not None]
    for number, dims in enumerate(known[1:], start=1):
        # stack needs all dimensions equal; its "axis" is a new one.
        axis = int(call.attrs.axis) % len(dims) if call.op.name == "relax.concat" else -1
        for along, (dim, other) in enumerate(zip(known[0], dims, strict=True)):
            if along != axis:
                yield same(dim, other, f"dimensions {along} of tensors 0 and {number},")


def _split(call: Call) -> Iterator[Need]:
    """No index may lie beyond a symbolic dimension: TOPI would give the next part a negative
    extent.
    """
    data, attrs = _dims(call.args[0]), call.attrs
    if data is None or not hasattr(attrs.indices_or_sections, "__len__"):
        return
    dim = data[int(attrs.axis)]
    if as_int(dim) is None:
        last = max((int(index) for index in attrs.indices_or_sections), default=0)
        yield _at_least(dim, last, "the split dimension")


def _norm(call: Call) -> Iterator[Need]:
    """Weights and biases span the normalized axes."""
    data = _dims(call.args[0])
    if data is None:
        return
    axes = [int(axis) for axis in call.attrs.axes]
    for weights in map(_dims, call.args[1:]):
        if weights is not None:
            for axis, dim in zip(axes, weights, strict=True):
                yield same(data[axis], dim, "dimensions of data and weights")


def _channels(call: Call) -> Iterator[Need]:
    """One-dimensional weights and biases span the channels."""
    data, attrs = _dims(call.args[0]), call.attrs
    if data is None:
        return
    axis = attrs.channel_axis if hasattr(attrs, "channel_axis") else attrs.axis
    channels = data[int(axis)]
    for weights in map(_dims, call.args[1:]):
        if weights is not None:
            yield same(channels, weights[0], "channels of data and weights")
    if "group" in call.op.name:
        yield _multiple(channels, int(attrs.num_groups), "channels")


def _attention(call: Call) -> Iterator[Need]:
    shapes = [_dims(argument) for argument in call.args[:3]]
    if any(dims is None for dims in shapes):
        return
    query, key, value = (dims or [] for dims in shapes)
    yield same(query[0], key[0], "batch of query and key")
    yield same(query[0], value[0], "batch of query and value")
    yield same(key[1], value[1], "lengths of key and value")
    yield same(key[2], value[2], "heads of key and value")
    yield same(query[3], key[3], "head dimensions of query and key")
    yield _multiple(query[2], key[2], "heads of the query")


def _pad(call: Call) -> Iterator[Need]:
    data, mode = _dims(call.args[0]), str(call.attrs.pad_mode)
    widths = [int(width) for width in call.attrs.pad_width]
    # By how much a dimension must exceed the largest pad; edge and replicate need one element.
    beyond = {"reflect": 1, "circular": 0, "replicate": None, "edge": None}
    if data is None or mode not in beyond:
        return
    for axis, dim in enumerate(data):
        width = max(widths[2 * axis : 2 * axis + 2])
        more = beyond[mode]
        if width > 0:
            yield _at_least(dim, 1 if more is None else width + more, f"for {mode} padding,")


def _squeeze(call: Call) -> Iterator[Need]:
    data, axes = _dims(call.args[0]), call.attrs.axis
    for axis in axes or ():
        if data is not None:
            why = f"the squeezed dimension {show(data[int(axis)])} must be 1"
            yield Need(equal(data[int(axis)], 1), why, (data[int(axis)],))


def _gather_elements(call: Call) -> Iterator[Need]:
    data, indices = map(_dims, call.args)
    if data is None or indices is None:
        return
    for along, (size, count) in enumerate(zip(data, indices, strict=True)):
        if along != int(call.attrs.axis) % len(data):
            why = f"as many indices as {show(count)} must not be more than {show(size)}"
            yield Need(count <= size, why, (count, size))


def _choice(call: Call) -> Iterator[Need]:
    """A maximum of no elements has no value."""
    data, axis = _dims(call.args[0]), call.attrs.axis
    if data is None:
        return
    listed = axis if hasattr(axis, "__len__") else [axis]
    chosen = range(len(data)) if axis is None else [int(number) for number in listed]
    for along in chosen:
        yield _at_least(data[along], 1, "the reduced dimension")


def _made(call: Call) -> Iterator[Need]:
    """The allocator reads a negative extent as a huge one."""
    for dim in _dims(call) or ():
        number = as_int(dim)
        if number is None or number < 0:
            yield _at_least(dim, 0, "the dimension")


def _named(find: Callable[[Call], Iterator[Need]], names: str, prefix: str = "relax.") -> Any:
    return {f"{prefix}{name}": find for name in names.split()}


_ELEMENTWISE = (
    "add subtract multiply divide floor_divide power mod floor_mod maximum minimum"
    " atan2 log_add_exp"
    " equal not_equal less less_equal greater greater_equal"
    " logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor"
    " left_shift right_shift where"
)
_RANKS = ("1d", "2d", "3d")

TABLE: dict[str, Callable[[Call], Iterator[Need]]] = {
    **_named(_elementwise, _ELEMENTWISE),
    **_named(_convolution, " ".join(f"conv{r} conv{r}_transpose" for r in _RANKS), "relax.nn."),
    **_named(
        _pool,
        " ".join(f"max_pool{r} avg_pool{r} adaptive_avg_pool{r}" for r in _RANKS),
        "relax.nn.",
    ),
    **_named(_norm, "layer_norm rms_norm", "relax.nn."),
    **_named(_channels, "batch_norm group_norm instance_norm prelu", "relax.nn."),
    **_named(_attention, "attention attention_bias", "relax.nn."),
    **_named(_pad, "pad", "relax.nn."),
    **_named(_matmul, "matmul"),
    **_named(_reshape, "reshape"),
    **_named(_broadcast_to, "broadcast_to"),
    **_named(_split, "split"),
    **_named(_concat, "concat stack"),
    **_named(_squeeze, "squeeze"),
    **_named(_gather_elements, "gather_elements"),
    **_named(_choice, "max min argmax argmin"),
    **_named(_made, "zeros ones full builtin.alloc_tensor"),
}
"""Finds the needs of a call, by operator."""

ELEMENTWISE = frozenset(name for name, find in TABLE.items() if find is _elementwise)
"""The operators that broadcast all their arguments."""
