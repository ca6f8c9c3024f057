"""PyTorch's losses, and the gradient of one."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor
from torch.nn import functional

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.gradients import gradient
from relaxcheck.oracles.pytorch.source import Value, assigned, call_text, source
from relaxcheck.oracles.pytorch.tensors import Held, operator


@operator("nn.cross_entropy_with_logits")
def _cross_entropy(node: Node, operands: list[Held]) -> Held:
    x, labels = (each.tensor for each in operands)
    loss = -(x * labels).sum()
    return Held(loss / x.shape[0] if x.ndim > 1 else loss, operands[0].dtype)


@source("nn.cross_entropy_with_logits")
def _cross_entropy_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    x, labels = operands
    by = f" / {x.shape[0]}" if len(x.shape) > 1 else ""
    return assigned(result, f"-({x.name} * {labels.name}).sum(){by}")


def _loss(node: Node, x: Tensor, rest: Sequence[Tensor]) -> Tensor:
    attributes: dict[str, Any] = dict(node.attributes)
    targets, *weights = rest
    return functional.nll_loss(
        x,
        targets,
        weights[0] if weights else None,
        ignore_index=attributes.get("ignore_index", -100),
        reduction=attributes.get("reduction", "mean"),
    )


@operator("nn.nll_loss")
def _nll_loss(node: Node, operands: list[Held]) -> Held:
    x, *rest = (each.tensor for each in operands)
    return Held(_loss(node, x, rest), operands[0].dtype)


@operator("grad.nll_loss_backward")
def _nll_loss_backward(node: Node, operands: list[Held]) -> Held:
    of_output, x, *rest = (each.tensor for each in operands)

    def loss(predictions: Tensor, *others: Tensor) -> Tensor:
        return _loss(node, predictions, others)

    return Held(gradient(loss, of_output, x, *rest), operands[1].dtype)


def _text(node: Node, x: str, rest: Sequence[Value]) -> str:
    attributes: dict[str, Any] = dict(node.attributes)
    reduction = attributes.get("reduction", "mean")
    return call_text(
        "F.nll_loss",
        *(x, *(each.name for each in rest)),
        ignore_index=attributes.get("ignore_index"),
        reduction=None if reduction == "mean" else f'"{reduction}"',
    )


@source("nn.nll_loss")
def _nll_loss_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    x, *rest = operands
    return assigned(result, _text(node, x.name, rest))


@source("grad.nll_loss_backward")
def _backward_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    of_output, x, *rest = operands
    leaf = f"{result.name}_at"
    return [
        f"{leaf} = {x.name}.clone().requires_grad_()",
        f"({result.name},) = torch.autograd.grad("
        f"{_text(node, leaf, rest)}, {leaf}, {of_output.name})",
    ]
