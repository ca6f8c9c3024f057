"""PyTorch's reductions, running sums and softmax."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import (
    NoText,
    Value,
    assigned,
    call_text,
    cast_text,
    source,
)
from relaxcheck.oracles.pytorch.tensors import Held, Operator, cast, operator, wrapped


def axes(node: Node, x: Tensor) -> list[int]:
    """The axes that ``node`` reduces; all of them where none is given."""
    axis: Any = node.attributes.get("axis")
    if axis is None:
        return list(range(x.ndim))
    return [axis] if isinstance(axis, int) else list(axis)


def _spread(x: Tensor, dim: list[int], keep: bool) -> Tensor:
    apart = x - x.mean(dim, keepdim=True)
    return (apart * apart).mean(dim, keepdim=keep)


_REDUCED: dict[str, Callable[..., Tensor]] = {
    "sum": lambda x, dim, keep: x.sum(dim, keepdim=keep) if dim else x.clone(),
    "mean": lambda x, dim, keep: x.mean(dim, keepdim=keep) if dim else x.clone(),
    "max": lambda x, dim, keep: x.amax(dim, keepdim=keep),
    "min": lambda x, dim, keep: x.amin(dim, keepdim=keep),
    "variance": _spread,
    "std": lambda x, dim, keep: _spread(x, dim, keep).sqrt(),
}


def _reduced(function: Callable[..., Tensor]) -> Operator:
    def reduced(node: Node, operands: list[Held]) -> Held:
        x, keep = operands[0].tensor, bool(node.attributes.get("keepdims", False))
        return wrapped(function(x, axes(node, x), keep), operands[0].dtype)

    return reduced


for _name, _function in _REDUCED.items():
    operator(_name)(_reduced(_function))


@operator("prod")
def _prod(node: Node, operands: list[Held]) -> Held:
    x, keep = operands[0].tensor, bool(node.attributes.get("keepdims", False))
    for axis in sorted((at % x.ndim for at in axes(node, x)), reverse=True):
        x = x.prod(axis, keepdim=keep)
    return wrapped(x, operands[0].dtype)


_PLACES: dict[str, Callable[..., Tensor]] = {"argmax": torch.argmax, "argmin": torch.argmin}


def _placed(function: Callable[..., Tensor]) -> Operator:
    def placed(node: Node, operands: list[Held]) -> Held:
        x, keep = operands[0].tensor, bool(node.attributes.get("keepdims", False))
        return Held(function(x, node.attributes.get("axis"), keep), "int64")

    return placed


for _name, _function in _PLACES.items():
    operator(_name)(_placed(_function))


def _running(function: Callable[[Tensor, int], Tensor], start: int) -> Operator:
    def running(node: Node, operands: list[Held]) -> Held:
        attributes: dict[str, Any] = dict(node.attributes)
        held = cast(operands[0], attributes.get("dtype") or operands[0].dtype)
        x, axis = held.tensor, attributes.get("axis")
        if axis is None:
            x, axis = x.reshape(-1), 0
        if attributes.get("exclusive") and x.shape[axis]:
            # Each without itself: moved by one.
            first = torch.full_like(x.narrow(axis, 0, 1), start)
            x = torch.cat([first, x.narrow(axis, 0, x.shape[axis] - 1)], axis)
        return wrapped(function(x, axis), held.dtype)

    return running


operator("cumsum")(_running(torch.cumsum, 0))
operator("cumprod")(_running(torch.cumprod, 1))


@operator("nn.softmax")
def _softmax(node: Node, operands: list[Held]) -> Held:
    axis: Any = node.attributes.get("axis", -1)
    return Held(torch.softmax(operands[0].tensor, axis), operands[0].dtype)


@operator("nn.log_softmax")
def _log_softmax(node: Node, operands: list[Held]) -> Held:
    axis: Any = node.attributes.get("axis", -1)
    return Held(torch.log_softmax(operands[0].tensor, axis), operands[0].dtype)


def _listed_axes(node: Node, rank: int) -> tuple[int, ...]:
    axis: Any = node.attributes.get("axis")
    if axis is None:
        return tuple(range(rank))
    return (axis,) if isinstance(axis, int) else tuple(axis)


_METHODS = {
    "sum": "sum",
    "mean": "mean",
    "max": "amax",
    "min": "amin",
    "variance": "var",
    "std": "std",
}


def _declare_text(operator_name: str, method: str) -> None:
    @source(operator_name)
    def text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
        (x,) = operands
        axes = _listed_axes(node, len(x.shape))
        if not axes:
            raise NoText
        call = call_text(
            f"{x.name}.{method}",
            dim=axes[0] if len(axes) == 1 else axes,
            correction=0 if method in ("var", "std") else None,
            keepdim=node.attributes.get("keepdims") or None,
        )
        return assigned(result, call)


for _name, _method in _METHODS.items():
    _declare_text(_name, _method)


@source("prod")
def _prod_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    (x,) = operands
    axes = sorted(axis % len(x.shape) for axis in _listed_axes(node, len(x.shape)))
    if not axes:
        raise NoText
    keep = ", keepdim=True" if node.attributes.get("keepdims") else ""
    return assigned(result, x.name + "".join(f".prod({axis}{keep})" for axis in axes[::-1]))


def _declare_along(operator_name: str, function: str, default: int | None) -> None:
    @source(operator_name)
    def text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
        (x,), axis = operands, node.attributes.get("axis", default)
        if axis is None or node.attributes.get("exclusive"):
            raise NoText
        dtype = str(node.attributes.get("dtype") or x.dtype)
        return assigned(result, f"{function}({cast_text(x, dtype)}, {axis})")


_declare_along("cumsum", "torch.cumsum", None)
_declare_along("cumprod", "torch.cumprod", None)
_declare_along("nn.softmax", "torch.softmax", -1)
_declare_along("nn.log_softmax", "torch.log_softmax", -1)


def _declare_place(operator_name: str) -> None:
    @source(operator_name)
    def text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
        call = call_text(
            f"{operands[0].name}.{operator_name}",
            dim=node.attributes.get("axis"),
            keepdim=node.attributes.get("keepdims") or None,
        )
        return assigned(result, call)


_declare_place("argmax")
_declare_place("argmin")
