"""PyTorch's transposed convolutions."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.layouts import packed, packed_text, unpacked, unpacked_text
from relaxcheck.oracles.pytorch.source import Value, assigned, call_text, cast_text, source
from relaxcheck.oracles.pytorch.tensors import Held, cast, operator, wrapped

_CONVOLUTIONS = {
    1: functional.conv_transpose1d,
    2: functional.conv_transpose2d,
    3: functional.conv_transpose3d,
}


@operator("nn.conv1d_transpose")
def _conv1d_transpose(node: Node, operands: list[Held]) -> Held:
    return _conv_transpose("W", node, operands)


@operator("nn.conv2d_transpose")
def _conv2d_transpose(node: Node, operands: list[Held]) -> Held:
    return _conv_transpose("HW", node, operands)


@operator("nn.conv3d_transpose")
def _conv3d_transpose(node: Node, operands: list[Held]) -> Held:
    return _conv_transpose("DHW", node, operands)


def _conv_transpose(spatial: str, node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    layout = attributes.get("data_layout") or f"NC{spatial}"
    dtype = attributes.get("out_dtype") or operands[0].dtype
    data, kernel = (cast(each, dtype).tensor for each in operands)
    x = unpacked(data, layout, f"NC{spatial}")
    w = unpacked(kernel, attributes.get("kernel_layout") or f"IO{spatial}", f"IO{spatial}")
    y = _convolved(x, w, attributes)
    result = packed(y, attributes.get("out_layout") or layout, f"NC{spatial}")
    return wrapped(result, dtype)


def _convolved(x: Tensor, w: Tensor, attributes: Mapping[str, Any]) -> Tensor:
    """The transposed convolution of canonical tensors."""
    rank = x.ndim - 2
    stride, dilation = attributes.get("strides", 1), attributes.get("dilation", 1)
    extra, groups = attributes.get("output_padding", 0), attributes.get("groups", 1)
    begin, end = _sides(attributes.get("padding", 0), rank)
    lists = (_listed(each, rank) for each in (stride, dilation, extra))
    size = _sizes(x.shape[2:], w.shape[2:], begin, end, *lists)
    if not x.numel() or not w.numel() or 0 in size:
        # PyTorch refuses most empty tensors; no products are summed here, so all is zero.
        return x.new_zeros((x.shape[0], w.shape[1] * groups, *size))
    convolve = _CONVOLUTIONS[rank]
    if begin == end:
        return convolve(x, w, None, stride, begin, extra, groups, dilation)
    y = convolve(x, w, None, stride, 0, extra, groups, dilation)
    for axis, (before, after) in enumerate(zip(begin, end, strict=True), start=2):
        y = y.narrow(axis, before, y.shape[axis] - before - after)
    return y


def _sizes(
    data: Sequence[int],
    kernel: Sequence[int],
    begin: Sequence[int],
    end: Sequence[int],
    strides: Sequence[int],
    dilation: Sequence[int],
    output_padding: Sequence[int],
) -> tuple[int, ...]:
    """The spatial sizes of the output of spatial sizes ``data`` and ``kernel``."""
    lists = (data, kernel, begin, end, strides, dilation, output_padding)
    return tuple(
        (n - 1) * s - b - e + d * (k - 1) + o + 1
        for n, k, b, e, s, d, o in zip(*lists, strict=True)
    )


def _sides(padding: int | tuple[int, ...], rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The padding to crop at the begin and at the end of each axis."""
    if isinstance(padding, tuple) and len(padding) == 2 * rank:
        return padding[:rank], padding[rank:]
    both = _listed(padding, rank)
    return both, both


def _listed(values: int | tuple[int, ...], rank: int) -> tuple[int, ...]:
    return tuple(torch.tensor(values).expand(rank).tolist())


@source("nn.conv1d_transpose")
def _conv1d_transpose_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    return _conv_transpose_text("W", node, operands, result)


@source("nn.conv2d_transpose")
def _conv2d_transpose_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    return _conv_transpose_text("HW", node, operands, result)


@source("nn.conv3d_transpose")
def _conv3d_transpose_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    return _conv_transpose_text("DHW", node, operands, result)


def _conv_transpose_text(
    spatial: str, node: Node, operands: Sequence[Value], result: Value
) -> list[str]:
    rank, attributes = len(spatial), dict[str, Any](node.attributes)
    data, kernel = operands
    layout = attributes.get("data_layout") or f"NC{spatial}"
    dtype = attributes.get("out_dtype") or data.dtype
    strides, dilation, extra = (
        _listed(attributes.get(name, default), rank)
        for name, default in (("strides", 1), ("dilation", 1), ("output_padding", 0))
    )
    groups, (begin, end) = attributes.get("groups", 1), _sides(attributes.get("padding", 0), rank)
    x, x_shape = unpacked_text(cast_text(data, dtype), layout, f"NC{spatial}", data.shape)
    w, w_shape = unpacked_text(
        cast_text(kernel, dtype),
        attributes.get("kernel_layout") or f"IO{spatial}",
        f"IO{spatial}",
        kernel.shape,
    )
    line = call_text(
        f"torch.conv_transpose{rank}d",
        *(x, w),
        stride=_unless(strides, 1),
        padding=_unless(begin, 0) if begin == end else None,
        output_padding=_unless(extra, 0),
        groups=groups if groups != 1 else None,
        dilation=_unless(dilation, 1),
    )
    size = _sizes(x_shape[2:], w_shape[2:], begin, end, strides, dilation, extra)
    if begin != end:
        # PyTorch crops both ends alike.
        crop = ", ".join(f"{b}:{b + n}" for b, n in zip(begin, size, strict=True))
        line += f"[..., {crop}]"
    shape = (x_shape[0], w_shape[1] * groups, *size)
    line = packed_text(line, attributes.get("out_layout") or layout, f"NC{spatial}", shape)
    return assigned(result, line)


def _unless(values: tuple[int, ...], default: int) -> object:
    """``values``, one number where all are the same, or None where that is ``default``."""
    if set(values) == {default}:
        return None
    return values[0] if len(set(values)) == 1 else values
