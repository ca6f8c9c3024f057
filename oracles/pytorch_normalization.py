"""PyTorch's normalizations."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from generators.program import Node
from oracles.answer import declare
from oracles.pytorch_tensors import Held, Operator

OPERATORS: dict[str, Operator] = {}

operator = declare(OPERATORS)


def _axes(node: Node, x: Tensor, default: Any = None) -> list[int]:
    given: Any = node.attributes.get("axes", default)
    listed = [given] if isinstance(given, int) else list(given)
    return [axis % x.ndim for axis in listed]


def _epsilon(node: Node) -> float:
    given: Any = node.attributes.get("epsilon", 1e-5)
    return float(given)


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
    given: dict[str, Any] = dict(node.attributes)
    x, weight, bias, mean, variance = (each.tensor for each in operands)
    if not x.numel() and given.get("item", 0) == 0:
        return operands[0]
    x = x.movedim(given["axis"], 1)
    if given.get("training", True):
        own_variance, own_mean = torch.var_mean(x, [0, *range(2, x.ndim)], correction=0)
    else:
        own_variance, own_mean = variance, mean
    if given.get("item", 0) == 0:
        y = functional.batch_norm(
            x, own_mean, own_variance, weight, bias, training=False, eps=_epsilon(node)
        )
        return Held(y.movedim(1, given["axis"]), operands[0].dtype)
    old, new = ((mean, own_mean), (variance, own_variance))[given["item"] - 1]
    if not given.get("training", True):
        return Held(old, operands[0].dtype)
    return Held(torch.lerp(old, new, given.get("momentum", 0.1)), operands[0].dtype)
