"""PyTorch's convolutions, poolings and interpolation."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from generators.program import Node
from oracles.answer import Unsupported, declare
from oracles.pytorch_tensors import Held, Operator

OPERATORS: dict[str, Operator] = {}

operator = declare(OPERATORS)


def _list(value: Any, rank: int) -> list[int]:
    return [value] * rank if isinstance(value, int) else list(value) * (rank // len(value) or 1)


def _pads(given: dict[str, Any], rank: int) -> tuple[list[int], list[int]]:
    both = _list(given.get("padding", 0), rank)
    return (both, both) if len(both) == rank else (both[:rank], both[rank:])


def _around(x: Tensor, before: list[int], after: list[int], value: float) -> Tensor:
    flat = [width for pair in zip(before[::-1], after[::-1], strict=True) for width in pair]
    return functional.pad(x, flat, value=value) if any(flat) else x


def _places(given: dict[str, Any], x: Tensor, size: list[int]) -> list[int]:
    rank = len(size)
    before, after = _pads(given, rank)
    lists = (_list(given.get(name, 1), rank) for name in ("strides", "dilation"))
    return [
        (n + b + a - d * (k - 1) - 1) // s + 1
        for n, k, b, a, s, d in zip(x.shape[2:], size, before, after, *lists, strict=True)
    ]


def _conv(rank: int, node: Node, operands: list[Held]) -> Held:
    given: dict[str, Any] = dict(node.attributes)
    x, w = (each.tensor for each in operands)
    before, after = _pads(given, rank)
    if not x.numel() or not w.numel():
        size = _places(given, x, list(w.shape[2:]))
        return Held(x.new_zeros((x.shape[0], w.shape[0], *size)), operands[0].dtype)
    convolve = functional.conv1d if rank == 1 else functional.conv2d
    strides, dilation = (_list(given.get(name, 1), rank) for name in ("strides", "dilation"))
    padded = _around(x, before, after, 0)
    y = convolve(padded, w, None, strides, 0, dilation, given.get("groups", 1))
    return Held(y, operands[0].dtype)


@operator("nn.conv1d")
def _conv1d(node: Node, operands: list[Held]) -> Held:
    return _conv(1, node, operands)


@operator("nn.conv2d")
def _conv2d(node: Node, operands: list[Held]) -> Held:
    return _conv(2, node, operands)


def _max_pool(rank: int, node: Node, held: Held) -> Held:
    given: dict[str, Any] = dict(node.attributes)
    x, size = held.tensor, _list(given.get("pool_size", 1), rank)
    if not x.numel():
        return Held(x.new_zeros((*x.shape[:2], *_places(given, x, size))), held.dtype)
    pool = functional.max_pool1d if rank == 1 else functional.max_pool2d
    strides, dilation = (_list(given.get(name, 1), rank) for name in ("strides", "dilation"))
    y = pool(_around(x, *_pads(given, rank), -torch.inf), size, strides, 0, dilation)
    return Held(y, held.dtype)


@operator("nn.max_pool1d")
def _max_pool1d(node: Node, operands: list[Held]) -> Held:
    return _max_pool(1, node, operands[0])


@operator("nn.max_pool2d")
def _max_pool2d(node: Node, operands: list[Held]) -> Held:
    return _max_pool(2, node, operands[0])


def _avg_pool(rank: int, node: Node, held: Held, include: bool) -> Held:
    given: dict[str, Any] = dict(node.attributes)
    x, size = held.tensor, _list(given.get("pool_size", 1), rank)
    if set(_list(given.get("dilation", 1), rank)) != {1}:
        raise Unsupported("pytorch: avg_pool has no dilation")
    strides = _list(given.get("strides", 1), rank)
    before, after = _pads(given, rank)
    if not x.numel():
        return Held(x.new_zeros((*x.shape[:2], *_places(given, x, size))), held.dtype)
    pool = functional.avg_pool1d if rank == 1 else functional.avg_pool2d
    if before == after:
        return Held(pool(x, size, strides, before, False, include), held.dtype)
    if not include:
        raise Unsupported("pytorch: avg_pool pads alike on both sides")
    return Held(pool(_around(x, before, after, 0), size, strides), held.dtype)


@operator("nn.avg_pool1d")
def _avg_pool1d(node: Node, operands: list[Held]) -> Held:
    include = bool(node.attributes.get("count_include_pad", True))
    return _avg_pool(1, node, operands[0], include)


@operator("nn.avg_pool2d")
def _avg_pool2d(node: Node, operands: list[Held]) -> Held:
    include = bool(node.attributes.get("count_include_pad", False))
    return _avg_pool(2, node, operands[0], include)


def _adaptive(rank: int, node: Node, held: Held) -> Held:
    x, given = held.tensor, node.attributes.get("output_size")
    size = list(x.shape[2:]) if given is None else _list(given, rank)
    if not x.numel():
        return Held(x.new_zeros((*x.shape[:2], *size)), held.dtype)
    pool = functional.adaptive_avg_pool1d if rank == 1 else functional.adaptive_avg_pool2d
    return Held(pool(x, size), held.dtype)


@operator("nn.adaptive_avg_pool1d")
def _adaptive_avg_pool1d(node: Node, operands: list[Held]) -> Held:
    return _adaptive(1, node, operands[0])


@operator("nn.adaptive_avg_pool2d")
def _adaptive_avg_pool2d(node: Node, operands: list[Held]) -> Held:
    return _adaptive(2, node, operands[0])


@operator("image.resize2d")
def _resize2d(node: Node, operands: list[Held]) -> Held:
    given: dict[str, Any] = dict(node.attributes)
    x = operands[0].tensor
    size = operands[1].tensor.tolist() if len(operands) > 1 else _list(given["size"], 2)
    if not x.numel():
        return Held(x.new_zeros((*x.shape[:2], *size)), operands[0].dtype)
    if given.get("method", "linear") == "nearest_neighbor":
        return Held(functional.interpolate(x, size, mode="nearest"), operands[0].dtype)
    corners = given.get("coordinate_transformation_mode") == "align_corners"
    y = functional.interpolate(x, size, mode="bilinear", align_corners=corners)
    return Held(y, operands[0].dtype)
