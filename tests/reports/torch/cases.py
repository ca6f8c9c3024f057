"""Small cases about PyTorch programs."""

from typing import Any

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.torch.case import Exporting, TorchCase
from relaxcheck.generators.torch.program import Layer, Many, Node, Program, Ref, Span, Tensor

X = Tensor("x", (2, 3))


def of(
    *nodes: Node,
    tensors: tuple[Tensor, ...] = (X,),
    layers: dict[str, Layer] | None = None,
    **settings: Any,
) -> TorchCase:
    """The case of ``nodes``, whose outputs are those of the last."""
    outputs = tuple(filter(None, nodes[-1].outputs))
    return TorchCase("torch-graph", Program(tensors, nodes, outputs, layers or {}), **settings)


def last_column(**settings: Any) -> TorchCase:
    """``x[:, -1]``, which TVM imports undecomposed as a look-up at -1, out of bounds."""
    node = Node("torch.Tensor.__getitem__", (Ref("x"), Many((Span(), -1))))
    return of(node, exporting=Exporting(decomposed=False), **settings)


def rows(**settings: Any) -> TorchCase:
    """``x[at]`` by the indices -1 and 0."""
    at = Tensor("at", (2,), "int64", fill=Literal((-1, 0)))
    node = Node("torch.Tensor.__getitem__", (Ref("x"), Ref("at")))
    return of(node, tensors=(X, at), **settings)


def normalized(**settings: Any) -> TorchCase:
    """Batch normalization, which TVM imports undecomposed with another eps."""
    layers = {"norm": Layer("torch.nn.BatchNorm1d", (3,))}
    return of(
        Node("norm", (Ref("x"),)), layers=layers, exporting=Exporting(decomposed=False), **settings
    )
