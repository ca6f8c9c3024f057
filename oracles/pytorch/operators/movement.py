"""PyTorch's operators that move, repeat, pick or convert elements, and compute nothing."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from relaxcheck.generators.core.program import Node
from relaxcheck.generators.core.values import numpy_dtype
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.pytorch.source import (
    NoText,
    Value,
    assigned,
    call_text,
    cast_text,
    expression,
    source,
)
from relaxcheck.oracles.pytorch.tensors import FLOATS, Held, cast, operator, wrapped


def _like(held: Held, tensor: Tensor) -> Held:
    return Held(tensor, held.dtype)


def _shape(node: Node, operands: list[Held]) -> list[int]:
    shape: Any = operands[1].tensor.tolist() if len(operands) > 1 else node.attributes["shape"]
    return list(shape)


def _listed(value: Any) -> list[int]:
    return [value] if isinstance(value, int) else list(value)


@operator("reshape")
def _reshape(node: Node, operands: list[Held]) -> Held:
    return _like(operands[0], operands[0].tensor.reshape(_shape(node, operands)))


@operator("flatten")
def _flatten(node: Node, operands: list[Held]) -> Held:
    return _like(operands[0], operands[0].tensor.reshape(-1))


@operator("nn.batch_flatten")
def _batch_flatten(node: Node, operands: list[Held]) -> Held:
    return _like(operands[0], operands[0].tensor.flatten(1))


@operator("permute_dims")
def _permute_dims(node: Node, operands: list[Held]) -> Held:
    tensor = operands[0].tensor
    axes = node.attributes.get("axes")
    if axes is not None and not isinstance(axes, tuple):
        raise ValueError(f"axes {axes!r} is not a list of integers")
    return Held(tensor.permute(axes or tuple(reversed(range(tensor.ndim)))), operands[0].dtype)


@source("permute_dims")
def _permute_dims_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    axes = node.attributes.get("axes") or tuple(reversed(range(len(operands[0].shape))))
    # A scalar has no axes.
    return assigned(result, operands[0].name + (f".permute{axes}" if axes else ""))


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
    attributes: dict[str, Any] = dict(node.attributes)
    x, axis = operands[0].tensor, attributes.get("axis", 0)
    wanted = attributes["indices_or_sections"]
    split = x.chunk if isinstance(wanted, int) else x.tensor_split
    parts = split(wanted, axis)
    # Sections that nothing is left for are empty.
    beyond = attributes["item"] >= len(parts)
    return _like(operands[0], x.narrow(axis, 0, 0) if beyond else parts[attributes["item"]])


@operator("flip")
def _flip(node: Node, operands: list[Held]) -> Held:
    return _like(operands[0], operands[0].tensor.flip(_listed(node.attributes["axis"])))


@operator("repeat")
def _repeat(node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    x = operands[0].tensor
    return _like(operands[0], x.repeat_interleave(attributes["repeats"], attributes.get("axis")))


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
    attributes: dict[str, Any] = dict(node.attributes)
    axes = attributes["axes"]
    strides = attributes.get("strides") or (1,) * len(axes)
    return _like(
        operands[0],
        _sliced(operands[0].tensor, axes, attributes["begin"], attributes["end"], strides),
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
    attributes: dict[str, Any] = dict(node.attributes)
    x = operands[0].tensor
    mode = attributes.get("pad_mode") or "constant"
    pairs = list(zip(attributes["pad_width"][::2], attributes["pad_width"][1::2], strict=True))
    if mode == "constant":
        flat = [width for pair in reversed(pairs) for width in pair]
        return _like(operands[0], functional.pad(x, flat, value=attributes.get("pad_value", 0.0)))
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
        if dtype == "uint64" and bool(x.tensor.double().ge(2.0**63).any()):
            raise Unsupported("pytorch: uint64 does not fit int64")
        # Not float8 itself: its NaN has no conversion to integers everywhere.
        wide = x.tensor if x.tensor.itemsize > 1 else x.tensor.float()
        return wrapped(wide.to(torch.int64), dtype)
    if dtype in FLOATS and FLOATS[dtype].itemsize < 4 and x.tensor.itemsize > 4:
        # PyTorch rounds to float32 first, and that rounds twice.
        return Held(_to_odd(x.tensor).to(FLOATS[dtype]), dtype)
    return cast(x, dtype)


def _to_odd(tensor: Tensor) -> Tensor:
    """Float64 or int64 in float32, inexact numbers at the neighbour whose last bit is 1.

    Source: S. Boldo, G. Melquiond, "Emulation of a FMA and correctly rounded sums: proved
    algorithms using rounding to odd", 2008: rounding that again rounds correctly.
    """
    near = tensor.to(torch.float32)
    if tensor.is_floating_point():
        apart = tensor - near.double()
    else:
        # Beyond int64 there is the number 2**63 alone.
        largest = near >= 2.0**63
        back = torch.where(largest, torch.zeros_like(near), near).to(torch.int64)
        apart = torch.where(largest, torch.full_like(tensor, -1), tensor - back).double()
    even = near.view(torch.int32).bitwise_and(1).eq(0)
    moved = even & apart.ne(0) & apart.isfinite()
    odd = torch.nextafter(near, torch.copysign(torch.full_like(near, torch.inf), apart.float()))
    # An overflow is inexact, too: the largest number is odd.
    beyond = near.isinf() & ~tensor.double().isinf()
    largest_one = torch.copysign(torch.full_like(near, torch.finfo(torch.float32).max), near)
    return torch.where(beyond, largest_one, torch.where(moved, odd, near))


@operator("match_cast")
def _match_cast(node: Node, operands: list[Held]) -> Held:
    return operands[0]


@operator("where")
def _where(node: Node, operands: list[Held]) -> Held:
    condition, a, b = operands
    return _like(a, torch.where(condition.tensor.ne(0), a.tensor, b.tensor))


def _declare_reshaped(name: str) -> None:
    @source(name)
    def text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
        return assigned(result, f"{operands[0].name}.reshape({result.shape})")


for _name in ("reshape", "flatten", "nn.batch_flatten", "squeeze", "expand_dims"):
    _declare_reshaped(_name)


@source("broadcast_to")
def _broadcast_to_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    return assigned(result, f"torch.broadcast_to({operands[0].name}, {result.shape})")


def _declare_joined(name: str, function: str) -> None:
    @source(name)
    def text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
        names = ", ".join(each.name for each in operands)
        comma = "," if len(operands) == 1 else ""
        return assigned(result, f"{function}(({names}{comma}), {node.attributes.get('axis', 0)})")


_declare_joined("concat", "torch.cat")
_declare_joined("stack", "torch.stack")


@source("flip")
def _flip_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    return assigned(result, f"{operands[0].name}.flip({node.attributes['axis']})")


@source("repeat")
def _repeat_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    axis = node.attributes.get("axis")
    rest = "" if axis is None else f", {axis}"
    count = node.attributes["repeats"]
    return assigned(result, f"{operands[0].name}.repeat_interleave({count}{rest})")


@source("tile")
def _tile_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    return assigned(result, f"{operands[0].name}.tile({node.attributes['repeats']})")


@source("split")
def _split_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    (x,), attributes = operands, dict[str, Any](node.attributes)
    axis = attributes.get("axis", 0) % len(x.shape)
    size, wanted, item = x.shape[axis], attributes["indices_or_sections"], attributes["item"]
    if isinstance(wanted, int):
        first = min(item * -(-size // wanted), size)
    else:
        first = min((0, *wanted)[item], size)
    return assigned(result, f"{x.name}.narrow({axis}, {first}, {result.shape[axis]})")


@source("take")
def _take_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    x, places = operands
    axis: Any = node.attributes.get("axis") or 0
    chosen = f"{x.name}.index_select({axis}, {places.name}.reshape(-1))"
    return assigned(
        result, chosen if len(places.shape) == 1 else f"{chosen}.reshape({result.shape})"
    )


@source("gather_elements")
def _gather_elements_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    x, places = operands
    return assigned(result, f"{x.name}.gather({node.attributes.get('axis', 0)}, {places.name})")


@source("gather_nd")
def _gather_nd_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    x, places = operands
    if node.attributes.get("batch_dims"):
        raise NoText
    return assigned(result, f"{x.name}[tuple({places.name}.unbind(-1))]")


@source("strided_slice")
def _strided_slice_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    (x,), attributes = operands, dict[str, Any](node.attributes)
    axes = attributes["axes"]
    lists = (attributes["begin"], attributes["end"], attributes.get("strides") or (1,) * len(axes))
    if not all(isinstance(each, tuple) for each in lists):
        # Bounds over symbols, of which a script's text knows no value.
        raise NoText
    text = x.name
    for axis, *ends in zip(axes, *lists, strict=True):
        first, stop, step = slice(*ends).indices(x.shape[axis])
        places = range(first, stop, step)
        if step > 0:
            before = ":, " * (axis % len(x.shape))
            text += f"[{before}{first}:{max(stop, first)}{f':{step}' if step > 1 else ''}]"
        else:
            text += f".index_select({axis}, torch.tensor({list(places)}))"
    return assigned(result, text)


@source("nn.pad")
def _pad_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    (x,), attributes = operands, dict[str, Any](node.attributes)
    if (attributes.get("pad_mode") or "constant") != "constant":
        raise NoText
    pairs = list(zip(attributes["pad_width"][::2], attributes["pad_width"][1::2], strict=True))
    flat = tuple(width for pair in reversed(pairs) for width in pair)
    value = np.array(attributes.get("pad_value", 0.0)).astype(numpy_dtype(x.dtype)).item()
    return assigned(result, call_text("F.pad", x.name, str(flat), value=value or None))


@source("astype")
def _astype_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    (x,), dtype = operands, str(node.attributes["dtype"])
    if dtype == "bool":
        return assigned(result, f"({x.name} != 0).long()")
    if dtype not in FLOATS:
        return assigned(result, f"{x.name}.long()" if x.dtype in FLOATS else cast_text(x, dtype))
    single = np.can_cast(numpy_dtype(x.dtype), np.float32)
    if dtype == "float64" or (dtype == "float32" and single):
        return assigned(result, x.name if x.dtype in FLOATS else f"{x.name}.double()")
    if dtype != "float32" and not single:
        # PyTorch rounds twice.
        raise NoText
    return assigned(result, f"{x.name}.to({FLOATS[dtype]}).double()")


source("match_cast")(expression(str))
