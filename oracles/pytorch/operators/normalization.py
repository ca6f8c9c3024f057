"""PyTorch's normalizations."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import NoText, Value, assigned, call_text, source
from relaxcheck.oracles.pytorch.tensors import Held, operator


def _axes(node: Node, x: Tensor, default: Any = None) -> list[int]:
    axes: Any = node.attributes.get("axes", default)
    listed = [axes] if isinstance(axes, int) else list(axes)
    return [axis % x.ndim for axis in listed]


def _epsilon(node: Node) -> float:
    epsilon: Any = node.attributes.get("epsilon", 1e-5)
    return float(epsilon)


@operator("nn.layer_norm")
def _layer_norm(node: Node, operands: list[Held]) -> Held:
    x, weight, bias = (each.tensor for each in operands)
    axes = _axes(node, x)
    last = list(range(-len(axes), 0))
    y = functional.layer_norm(x.movedim(axes, last), weight.shape, weight, bias, _epsilon(node))
    return Held(y.movedim(last, axes), operands[0].dtype)


@operator("nn.rms_norm")
def _rms_norm(node: Node, operands: list[Held]) -> Held:
    x, weight = (each.tensor for each in operands)
    axes = _axes(node, x, -1)
    last = list(range(-len(axes), 0))
    y = functional.rms_norm(x.movedim(axes, last), weight.shape, weight, _epsilon(node))
    return Held(y.movedim(last, axes), operands[0].dtype)


@operator("nn.group_norm")
def _group_norm(node: Node, operands: list[Held]) -> Held:
    groups: Any = node.attributes["num_groups"]
    return _by_group(node, operands, groups)


@operator("nn.instance_norm")
def _instance_norm(node: Node, operands: list[Held]) -> Held:
    # PyTorch's own refuses a single element a channel.
    return _by_group(node, operands, operands[0].tensor.shape[1])


def _by_group(node: Node, operands: list[Held], groups: int) -> Held:
    x, weight, bias = (each.tensor for each in operands)
    if not x.numel():
        return operands[0]
    # PyTorch refuses a single element in all, though not one an instance.
    several = torch.cat([x, x]) if x.numel() == groups else x
    y = functional.group_norm(several, groups, weight, bias, _epsilon(node))
    return Held(y[: x.shape[0]], operands[0].dtype)


@operator("nn.batch_norm")
def _batch_norm(node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    x, weight, bias, mean, variance = (each.tensor for each in operands)
    if not x.numel() and attributes.get("item", 0) == 0:
        return operands[0]
    x = x.movedim(attributes["axis"], 1)
    if attributes.get("training", True):
        own_variance, own_mean = torch.var_mean(x, [0, *range(2, x.ndim)], correction=0)
    else:
        own_variance, own_mean = variance, mean
    if attributes.get("item", 0) == 0:
        y = functional.batch_norm(
            x, own_mean, own_variance, weight, bias, training=False, eps=_epsilon(node)
        )
        return Held(y.movedim(1, attributes["axis"]), operands[0].dtype)
    old, new = ((mean, own_mean), (variance, own_variance))[attributes["item"] - 1]
    if not attributes.get("training", True):
        return Held(old, operands[0].dtype)
    return Held(torch.lerp(old, new, attributes.get("momentum", 0.1)), operands[0].dtype)


def _trailing(node: Node, rank: int, default: Any = None) -> bool:
    axes: Any = node.attributes.get("axes", default)
    listed = [axes] if isinstance(axes, int) else list(axes)
    return [axis % rank for axis in listed] == list(range(rank - len(listed), rank))


def _declare_trailing(name: str, function: str) -> None:
    @source(name)
    def text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
        x, weight, *bias = operands
        if not _trailing(node, len(x.shape), -1):
            raise NoText
        names = [x.name, str(weight.shape), weight.name, *(each.name for each in bias)]
        return assigned(result, call_text(function, *names, eps=_epsilon(node)))


_declare_trailing("nn.layer_norm", "F.layer_norm")
_declare_trailing("nn.rms_norm", "F.rms_norm")


def _declare_grouped(name: str) -> None:
    @source(name)
    def text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
        x, weight, bias = operands
        # Each channel alone is what PyTorch's own instance_norm refuses of a single element.
        groups = node.attributes.get("num_groups", x.shape[1])
        names = (x.name, str(groups), weight.name, bias.name)
        return assigned(result, call_text("F.group_norm", *names, eps=_epsilon(node)))


_declare_grouped("nn.group_norm")
_declare_grouped("nn.instance_norm")
