"""PyTorch's convolutions, poolings and interpolation."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.limitations import Call, When
from relaxcheck.oracles.pytorch.layouts import packed, packed_text, unpacked, unpacked_text
from relaxcheck.oracles.pytorch.source import (
    NoText,
    Value,
    assigned,
    call_text,
    cast_text,
    source,
)
from relaxcheck.oracles.pytorch.tensors import Held, cast, limit, operator, wrapped

_RANKS = (1, 2, 3)

_ADAPTIVE: dict[int, Any] = {
    1: functional.adaptive_avg_pool1d,
    2: functional.adaptive_avg_pool2d,
    3: functional.adaptive_avg_pool3d,
}


def _list(value: Any, rank: int) -> list[int]:
    return [value] * rank if isinstance(value, int) else list(value) * (rank // len(value) or 1)


def _pads(attributes: dict[str, Any], rank: int) -> tuple[list[int], list[int]]:
    both = _list(attributes.get("padding", 0), rank)
    return (both, both) if len(both) == rank else (both[:rank], both[rank:])


def _around(x: Tensor, before: list[int], after: list[int], value: float) -> Tensor:
    flat = [width for pair in zip(before[::-1], after[::-1], strict=True) for width in pair]
    return functional.pad(x, flat, value=value) if any(flat) else x


def _places(attributes: dict[str, Any], shape: Sequence[int], size: Sequence[int]) -> list[int]:
    rank = len(size)
    before, after = _pads(attributes, rank)
    lists = (_list(attributes.get(name, 1), rank) for name in ("strides", "dilation"))
    return [
        (n + b + a - d * (k - 1) - 1) // s + 1
        for n, k, b, a, s, d in zip(shape[2:], size, before, after, *lists, strict=True)
    ]


def _conv(spatial: str, node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    layout, dtype = attributes.get("data_layout", f"NC{spatial}"), attributes.get("out_dtype")
    dtype = dtype or operands[0].dtype
    data, kernel = (cast(each, dtype).tensor for each in operands)
    x = unpacked(data, layout, f"NC{spatial}")
    w = unpacked(kernel, attributes.get("kernel_layout", f"OI{spatial}"), f"OI{spatial}")
    y = _convolved(x, w, attributes)
    return wrapped(packed(y, attributes.get("out_layout", layout), f"NC{spatial}"), dtype)


def _convolved(x: Tensor, w: Tensor, attributes: dict[str, Any]) -> Tensor:
    """The convolution of canonical tensors."""
    rank = x.ndim - 2
    if not x.numel() or not w.numel():
        return x.new_zeros((x.shape[0], w.shape[0], *_places(attributes, x.shape, w.shape[2:])))
    convolve = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}[rank]
    strides, dilation = (_list(attributes.get(name, 1), rank) for name in ("strides", "dilation"))
    wide = _around(x, *_pads(attributes, rank), 0)
    return convolve(wide, w, None, strides, 0, dilation, attributes.get("groups", 1))


@operator("nn.conv1d")
def _conv1d(node: Node, operands: list[Held]) -> Held:
    return _conv("W", node, operands)


@operator("nn.conv2d")
def _conv2d(node: Node, operands: list[Held]) -> Held:
    return _conv("HW", node, operands)


@operator("nn.conv3d")
def _conv3d(node: Node, operands: list[Held]) -> Held:
    return _conv("DHW", node, operands)


def max_pool(rank: int, node: Node, held: Held) -> Held:
    """The largest elements of windows over ``rank`` axes."""
    attributes: dict[str, Any] = dict(node.attributes)
    x, size = held.tensor, _list(attributes.get("pool_size", 1), rank)
    if not x.numel():
        return Held(x.new_zeros((*x.shape[:2], *_places(attributes, x.shape, size))), held.dtype)
    pool = {1: functional.max_pool1d, 2: functional.max_pool2d, 3: functional.max_pool3d}[rank]
    strides, dilation = (_list(attributes.get(name, 1), rank) for name in ("strides", "dilation"))
    y = pool(_around(x, *_pads(attributes, rank), -torch.inf), size, strides, 0, dilation)
    return Held(y, held.dtype)


@operator("nn.max_pool1d")
def _max_pool1d(node: Node, operands: list[Held]) -> Held:
    return max_pool(1, node, operands[0])


@operator("nn.max_pool2d")
def _max_pool2d(node: Node, operands: list[Held]) -> Held:
    return max_pool(2, node, operands[0])


@operator("nn.max_pool3d")
def _max_pool3d(node: Node, operands: list[Held]) -> Held:
    return max_pool(3, node, operands[0])


def is_dilated(call: Call) -> bool:
    """Return True if a window skips elements."""
    dilation: Any = call.attributes.get("dilation", 1)
    return set(_list(dilation, 1)) != {1}


for _rank in _RANKS:
    limit(
        f"nn.avg_pool{_rank}d",
        When("dilation other than 1", is_dilated),
        "avg_pool has no dilation",
    )


def avg_pool(rank: int, node: Node, held: Held, include: bool) -> Held:
    """The means of windows over ``rank`` axes; ``include``: padding counts."""
    attributes: dict[str, Any] = dict(node.attributes)
    x, size = held.tensor, _list(attributes.get("pool_size", 1), rank)
    strides = _list(attributes.get("strides", 1), rank)
    before, after = _pads(attributes, rank)
    if not x.numel():
        return Held(x.new_zeros((*x.shape[:2], *_places(attributes, x.shape, size))), held.dtype)
    pool = {1: functional.avg_pool1d, 2: functional.avg_pool2d, 3: functional.avg_pool3d}[rank]
    if _pads_itself(before, after):
        return Held(pool(x, size, strides, before, False, include), held.dtype)
    padded = _around(x, before, after, 0)
    if include:
        return Held(pool(padded, size, strides), held.dtype)
    # PyTorch pads both ends alike: sums of the elements, and of ones in their places.
    ones = _around(torch.ones_like(x), before, after, 0)
    sums, counts = (_sums(each, size, strides) for each in (padded, ones))
    return Held(sums / counts, held.dtype)


def _pads_itself(before: list[int], after: list[int]) -> bool:
    """True if PyTorch's average can pad: both ends alike; over three axes not at all.

    There it refuses a window that only the padding makes room for.
    """
    return before == after and (len(before) < 3 or not any(before))


def _sums(x: Tensor, size: list[int], strides: list[int]) -> Tensor:
    """The sum over each window of ``x``, whose last axes slide."""
    if len(size) == 3:
        return functional.avg_pool3d(x, size, strides, divisor_override=1)
    if len(size) == 2:
        return functional.avg_pool2d(x, size, strides, divisor_override=1)
    flat = functional.avg_pool2d(x.unsqueeze(-1), [*size, 1], [*strides, 1], divisor_override=1)
    return flat.squeeze(-1)


@operator("nn.avg_pool1d")
def _avg_pool1d(node: Node, operands: list[Held]) -> Held:
    include = bool(node.attributes.get("count_include_pad", True))
    return avg_pool(1, node, operands[0], include)


@operator("nn.avg_pool2d")
def _avg_pool2d(node: Node, operands: list[Held]) -> Held:
    include = bool(node.attributes.get("count_include_pad", False))
    return avg_pool(2, node, operands[0], include)


@operator("nn.avg_pool3d")
def _avg_pool3d(node: Node, operands: list[Held]) -> Held:
    include = bool(node.attributes.get("count_include_pad", True))
    return avg_pool(3, node, operands[0], include)


def _adaptive(rank: int, node: Node, held: Held) -> Held:
    x, wanted = held.tensor, node.attributes.get("output_size")
    size = list(x.shape[2:]) if wanted is None else _list(wanted, rank)
    if not x.numel():
        return Held(x.new_zeros((*x.shape[:2], *size)), held.dtype)
    pool = _ADAPTIVE[rank]
    return Held(pool(x, size), held.dtype)


@operator("nn.adaptive_avg_pool1d")
def _adaptive_avg_pool1d(node: Node, operands: list[Held]) -> Held:
    return _adaptive(1, node, operands[0])


@operator("nn.adaptive_avg_pool2d")
def _adaptive_avg_pool2d(node: Node, operands: list[Held]) -> Held:
    return _adaptive(2, node, operands[0])


@operator("nn.adaptive_avg_pool3d")
def _adaptive_avg_pool3d(node: Node, operands: list[Held]) -> Held:
    return _adaptive(3, node, operands[0])


def _padded_text(x: Value, before: list[int], after: list[int], value: str | None) -> str:
    """The text of ``x`` with padding around its spatial axes."""
    if not any((*before, *after)):
        return x.name
    flat = tuple(width for pair in zip(before[::-1], after[::-1], strict=True) for width in pair)
    return call_text("F.pad", x.name, str(flat), value=value)


def _unless(values: list[int], default: int) -> object:
    if set(values) == {default}:
        return None
    return values[0] if len(set(values)) == 1 else tuple(values)


def _declare_conv_text(spatial: str) -> None:
    rank = len(spatial)

    @source(f"nn.conv{rank}d")
    def text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
        (x, w), attributes = operands, dict[str, Any](node.attributes)
        layout, dtype = (
            attributes.get("data_layout", f"NC{spatial}"),
            attributes.get("out_dtype") or x.dtype,
        )
        of_kernel = attributes.get("kernel_layout", f"OI{spatial}")
        data, size = unpacked_text(cast_text(x, dtype), layout, f"NC{spatial}", x.shape)
        kernel, window = unpacked_text(cast_text(w, dtype), of_kernel, f"OI{spatial}", w.shape)
        call = call_text(
            f"F.conv{rank}d",
            _padded_text(Value(data, size, dtype), *_pads(attributes, rank), None),
            kernel,
            stride=_unless(_list(attributes.get("strides", 1), rank), 1),
            dilation=_unless(_list(attributes.get("dilation", 1), rank), 1),
            groups=_unless([attributes.get("groups", 1)], 1),
        )
        shape = (size[0], window[0], *_places(attributes, size, window[2:]))
        wanted = attributes.get("out_layout", layout)
        return assigned(result, packed_text(call, wanted, f"NC{spatial}", shape))


def _declare_max_text(rank: int) -> None:
    @source(f"nn.max_pool{rank}d")
    def text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
        (x,), attributes = operands, dict[str, Any](node.attributes)
        call = call_text(
            f"F.max_pool{rank}d",
            _padded_text(x, *_pads(attributes, rank), "-torch.inf"),
            str(tuple(_list(attributes.get("pool_size", 1), rank))),
            stride=tuple(_list(attributes.get("strides", 1), rank)),
            dilation=_unless(_list(attributes.get("dilation", 1), rank), 1),
        )
        return assigned(result, call)


def _declare_average_text(rank: int, counted: bool) -> None:
    @source(f"nn.avg_pool{rank}d")
    def text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
        (x,), attributes = operands, dict[str, Any](node.attributes)
        (before, after), counts = (
            _pads(attributes, rank),
            attributes.get("count_include_pad", counted),
        )
        even = _pads_itself(before, after)
        if not even and not counts:
            raise NoText
        call = call_text(
            f"F.avg_pool{rank}d",
            x.name if even else _padded_text(x, before, after, None),
            str(tuple(_list(attributes.get("pool_size", 1), rank))),
            stride=tuple(_list(attributes.get("strides", 1), rank)),
            padding=_unless(before, 0) if even else None,
            count_include_pad=None if counts else False,
        )
        return assigned(result, call)


def _declare_adaptive_text(rank: int) -> None:
    @source(f"nn.adaptive_avg_pool{rank}d")
    def text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
        size = result.shape[2:]
        return assigned(result, f"F.adaptive_avg_pool{rank}d({operands[0].name}, {size})")


for _rank in _RANKS:
    _declare_conv_text("DHW"[-_rank:])
    _declare_max_text(_rank)
    _declare_average_text(_rank, counted=_rank != 2)
    _declare_adaptive_text(_rank)
