"""PyTorch's orders of elements along an axis."""

from collections.abc import Sequence
from typing import Any

import torch

from relaxcheck.generators.core.program import ITEM, Node
from relaxcheck.oracles.pytorch.source import Value, assigned, source
from relaxcheck.oracles.pytorch.tensors import Held, operator, wrapped


@operator("topk")
def _topk(node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    (x,), axis, count = operands, attributes.get("axis", -1), attributes.get("k", 1)
    number = count if count > 0 else x.tensor.shape[axis]
    values, places = torch.topk(x.tensor, number, axis, attributes.get("largest", True))
    result = attributes.get("ret_type", "both")
    if result == "values" or (result == "both" and attributes[ITEM] == 0):
        return Held(values, x.dtype)
    return wrapped(places, attributes.get("dtype", "int32"))


@source("topk")
def _topk_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    attributes: dict[str, Any] = dict(node.attributes)
    (x,), axis = operands, attributes.get("axis", -1)
    items = {"values": 0, "indices": 1}
    item = items.get(attributes.get("ret_type", "both"), attributes.get(ITEM))
    order = "" if attributes.get("largest", True) else ", largest=False"
    call = f"torch.topk({x.name}, {result.shape[axis]}, {axis}{order})"
    return assigned(result, f"{call}[{item}]")


def _order(node: Node) -> tuple[int, bool]:
    attributes: dict[str, Any] = dict(node.attributes)
    return attributes.get("axis", -1), attributes.get("descending", False)


@operator("sort")
def _sort(node: Node, operands: list[Held]) -> Held:
    (x,) = operands
    return Held(torch.sort(x.tensor, *_order(node)).values, x.dtype)


@operator("argsort")
def _argsort(node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    return wrapped(
        torch.argsort(operands[0].tensor, *_order(node)), attributes.get("dtype", "int32")
    )


@source("sort")
def _sort_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    axis, descending = _order(node)
    return assigned(result, f"torch.sort({operands[0].name}, {axis}, {descending}).values")


@source("argsort")
def _argsort_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    axis, descending = _order(node)
    return assigned(result, f"torch.argsort({operands[0].name}, {axis}, {descending})")


@operator("bucketize")
def _bucketize(node: Node, operands: list[Held]) -> Held:
    x, boundaries = operands
    right = bool(node.attributes.get("right", False))
    numbers = torch.bucketize(x.tensor, boundaries.tensor, right=right)
    return Held(numbers, "int32" if node.attributes.get("out_int32", False) else "int64")


@source("bucketize")
def _bucketize_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    names, right = ", ".join(each.name for each in operands), node.attributes.get("right", False)
    return assigned(result, f"torch.bucketize({names}, right={right})")


@operator("median")
def _median(node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    (x,), keep = operands, attributes.get("keepdims", False)
    axis = attributes.get("axis")
    if axis is None:
        middle = torch.median(x.tensor)
        return Held(middle.reshape((1,) * x.tensor.ndim) if keep else middle, x.dtype)
    results = torch.median(x.tensor, axis if isinstance(axis, int) else axis[0], keep)
    item = attributes[ITEM]
    return Held(results[item], "int64" if item else x.dtype)


@source("median")
def _median_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    attributes: dict[str, Any] = dict(node.attributes)
    (x,), axis = operands, attributes.get("axis")
    if axis is None:
        return assigned(result, f"torch.median({x.name}).reshape({result.shape})")
    along = axis if isinstance(axis, int) else axis[0]
    call = f"torch.median({x.name}, {along})"
    return assigned(result, f"{call}[{attributes[ITEM]}].reshape({result.shape})")
