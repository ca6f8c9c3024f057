"""Small PyTorch programs as cases."""

from typing import Any

from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.generators.torch.program import Argument, Layer, Node, Program, Ref, Tensor


def of(target: str, *args: Argument, dtype: str = "float32", **settings: Any) -> TorchCase:
    """One call of ``target`` on a tensor of two rows and three columns, and ``args``."""
    program = Program((Tensor("x", (2, 3), dtype),), (Node(target, (Ref("x"), *args)),), ("y",))
    return TorchCase("torch-of", program, **settings)


def chain(**settings: Any) -> TorchCase:
    """A layer, its rectified values and their sum by rows, with a symbolic batch."""
    program = Program(
        (Tensor("x", ("B", 3)),),
        (
            Node("linear", (Ref("x"),), outputs=("product",)),
            Node("torch.relu", (Ref("product"),), outputs=("positive",)),
            Node("torch.sum", (Ref("positive"), -1), {"keepdim": True}),
        ),
        ("y",),
        layers={"linear": Layer("torch.nn.Linear", (3, 2))},
    )
    return TorchCase("torch-chain", program, bindings=({"B": 2}, {"B": 3}), **settings)


def holding(**settings: Any) -> TorchCase:
    """All that a module may hold: a parameter, a buffer that a call changes, a constant."""
    program = Program(
        (
            Tensor("x", ("B", 3)),
            Tensor("weight", (3,), held="parameter"),
            Tensor("count", (1,), held="buffer"),
            Tensor("offset", (3,), held="constant"),
        ),
        (
            Node("torch.Tensor.add_", (Ref("count"), 1.0), outputs=("counted",)),
            Node("torch.mul", (Ref("x"), Ref("weight")), outputs=("scaled",)),
            Node("torch.add", (Ref("scaled"), Ref("offset")), outputs=("moved",)),
            Node("torch.sort", (Ref("moved"),), outputs=("sorted", "")),
            Node("torch.add", (Ref("sorted"), Ref("count"))),
        ),
        ("y", "sorted"),
    )
    return TorchCase("torch-holding", program, bindings=({"B": 2},), **settings)
