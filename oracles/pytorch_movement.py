"""PyTorch's operators that move, repeat, pick or make elements, and compute nothing."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from generators.program import Node
from generators.values import numpy_dtype
from oracles.answer import declare
from oracles.pytorch_tensors import FLOATS, Held, Operator, cast, wrapped

OPERATORS: dict[str, Operator] = {}

operator = declare(OPERATORS)


def _like(held: Held, tensor: Tensor) -> Held:
    return Held(tensor, held.dtype)


def _shape(node: Node, operands: list[Held]) -> list[int]:
    given: Any = operands[1].tensor.tolist() if len(operands) > 1 else node.attributes["shape"]
    return list(given)


def _listed(value: Any) -> list[int]:
    return [value] if isinstance(value, int) else list(value)


@operator("reshape")
def _reshape(node: Node, operands: list[Held]) -> Held:
    return _like(operands[0], operands[0].tensor.reshape(_shape(node, operands)))


@operator("flatten")
def _flatten(node: Node, operands: list[Held]) -> Held:
    return _like(operands[0], operands[0].tensor.reshape(-1))


@operator("squeeze")
def _squeeze(node: Node, operands: list[Held]) -> Held:
    axis: Any = node.attributes.get("axis")
    x = operands[0].tensor
    return _like(operands[0], x.squeeze() if axis is None else x.squeeze(tuple(_listed(axis))))


@operator("expand_dims")
def _expand_dims(node: Node, operands: list[Held]) -> Held:
    x = operands[0].tensor
    axes = _listed(node.attributes["axis"])
    rank = x.ndim + len(axes)
    for axis in sorted(axis + rank if axis < 0 else axis for axis in axes):
        x = x.unsqueeze(axis)
    return _like(operands[0], x)


@operator("broadcast_to")
def _broadcast_to(node: Node, operands: list[Held]) -> Held:
    return _like(operands[0], torch.broadcast_to(operands[0].tensor, _shape(node, operands)))


@operator("concat")
def _concat(node: Node, operands: list[Held]) -> Held:
    axis: Any = node.attributes.get("axis", 0)
    return _like(operands[0], torch.cat([each.tensor for each in operands], axis))


@operator("stack")
def _stack(node: Node, operands: list[Held]) -> Held:
    axis: Any = node.attributes.get("axis", 0)
    return _like(operands[0], torch.stack([each.tensor for each in operands], axis))


@operator("split")
def _split(node: Node, operands: list[Held]) -> Held:
    given: dict[str, Any] = dict(node.attributes)
    x, axis = operands[0].tensor, given.get("axis", 0)
    wanted = given["indices_or_sections"]
    split = x.chunk if isinstance(wanted, int) else x.tensor_split
    parts = split(wanted, axis)
    # Sections that nothing is left for are empty.
    beyond = given["item"] >= len(parts)
    return _like(operands[0], x.narrow(axis, 0, 0) if beyond else parts[given["item"]])


@operator("flip")
def _flip(node: Node, operands: list[Held]) -> Held:
    return _like(operands[0], operands[0].tensor.flip(_listed(node.attributes["axis"])))


@operator("repeat")
def _repeat(node: Node, operands: list[Held]) -> Held:
    given: dict[str, Any] = dict(node.attributes)
    x = operands[0].tensor
    return _like(operands[0], x.repeat_interleave(given["repeats"], given.get("axis")))


@operator("tile")
def _tile(node: Node, operands: list[Held]) -> Held:
    return _like(operands[0], operands[0].tensor.tile(_listed(node.attributes["repeats"])))


@operator("take")
def _take(node: Node, operands: list[Held]) -> Held:
    axis: Any = node.attributes.get("axis")
    x, places = operands[0].tensor, operands[1].tensor
    taken = x.index_select(axis or 0, places.reshape(-1))
    return _like(
        operands[0],
        taken.unflatten(axis or 0, places.shape) if places.ndim else taken.squeeze(axis or 0),
    )


@operator("gather_elements")
def _gather_elements(node: Node, operands: list[Held]) -> Held:
    axis: Any = node.attributes.get("axis", 0)
    return _like(operands[0], operands[0].tensor.gather(axis, operands[1].tensor))


@operator("gather_nd")
def _gather_nd(node: Node, operands: list[Held]) -> Held:
    batch: Any = node.attributes.get("batch_dims", 0)

    def picked(x: Tensor, places: Tensor) -> Tensor:
        return x[tuple(places.unbind(-1))]

    x, places = operands[0].tensor, operands[1].tensor
    if not batch:
        return _like(operands[0], picked(x, places))
    outer = x.shape[:batch]
    x, places = x.flatten(0, batch - 1), places.flatten(0, batch - 1)
    parts = [picked(*each) for each in zip(x, places, strict=True)]
    rest = (*places.shape[1:-1], *x.shape[1 + places.shape[-1] :])
    whole = torch.stack(parts) if parts else x.new_zeros((0, *rest))
    return _like(operands[0], whole.reshape(*outer, *rest))


@operator("strided_slice")
def _strided_slice(node: Node, operands: list[Held]) -> Held:
    given: dict[str, Any] = dict(node.attributes)
    axes = given["axes"]
    strides = given.get("strides") or (1,) * len(axes)
    return _like(
        operands[0], _sliced(operands[0].tensor, axes, given["begin"], given["end"], strides)
    )


@operator("dynamic_strided_slice")
def _dynamic_strided_slice(node: Node, operands: list[Held]) -> Held:
    x, *lists = (each.tensor for each in operands)
    return _like(operands[0], _sliced(x, range(x.ndim), *(each.tolist() for each in lists)))


def _sliced(x: Tensor, axes: Any, begin: Any, end: Any, strides: Any) -> Tensor:
    """PyTorch has no negative steps: the places are listed and selected."""
    for axis, first, last, step in zip(axes, begin, end, strides, strict=True):
        places = list(range(x.shape[axis]))[first:last:step]
        x = x.index_select(axis, torch.tensor(places, dtype=torch.int64))
    return x


@operator("nn.pad")
def _pad(node: Node, operands: list[Held]) -> Held:
    given: dict[str, Any] = dict(node.attributes)
    x = operands[0].tensor
    mode = given.get("pad_mode") or "constant"
    pairs = list(zip(given["pad_width"][::2], given["pad_width"][1::2], strict=True))
    if mode == "constant":
        flat = [width for pair in reversed(pairs) for width in pair]
        return _like(operands[0], functional.pad(x, flat, value=given.get("pad_value", 0.0)))
    for axis, pair in enumerate(pairs):
        size = list(x.shape)
        size[axis] += sum(pair)
        if not x.numel():
            x = x.new_zeros(size)
        elif sum(pair):
            # PyTorch pads the last axes of tensors of certain ranks only.
            rows = x.movedim(axis, -1)
            flat_rows = rows.reshape(1, -1, x.shape[axis])
            padded = functional.pad(flat_rows, list(pair), mode)
            x = padded.reshape(*rows.shape[:-1], size[axis]).movedim(-1, axis)
    return _like(operands[0], x)


@operator("astype")
def _astype(node: Node, operands: list[Held]) -> Held:
    dtype: Any = node.attributes["dtype"]
    x = operands[0]
    if dtype == "bool":
        return Held(x.tensor.ne(0).to(torch.int64), dtype)
    if x.dtype in FLOATS and dtype not in FLOATS:
        return wrapped(x.tensor.to(torch.int64), dtype)
    return cast(x, dtype)


@operator("match_cast")
def _match_cast(node: Node, operands: list[Held]) -> Held:
    return operands[0]


@operator("shape_of")
def _shape_of(node: Node, operands: list[Held]) -> Held:
    return Held(torch.tensor(operands[0].tensor.shape, dtype=torch.int64), "int64")


@operator("shape_to_tensor")
def _shape_to_tensor(node: Node, operands: list[Held]) -> Held:
    return operands[0]


@operator("zeros")
def _zeros(node: Node, operands: list[Held]) -> Held:
    return _filled(node, 0)


@operator("ones")
def _ones(node: Node, operands: list[Held]) -> Held:
    return _filled(node, 1)


@operator("full")
def _full(node: Node, operands: list[Held]) -> Held:
    return _filled(node, node.attributes["fill_value"])


def _filled(node: Node, value: Any) -> Held:
    given: dict[str, Any] = dict(node.attributes)
    dtype = given["dtype"]
    if dtype in FLOATS:
        return Held(torch.full(given["shape"], value, dtype=FLOATS[dtype]), dtype)
    whole = np.full(given["shape"], value).astype(numpy_dtype(dtype)).astype(np.int64)
    return Held(torch.from_numpy(whole), dtype)


@operator("where")
def _where(node: Node, operands: list[Held]) -> Held:
    condition, a, b = operands
    return _like(a, torch.where(condition.tensor.ne(0), a.tensor, b.tensor))
