"""Changes in place of tensors that have several names, turned into functions by PyTorch.

The importer binds the changed tensor to one name: a view of it, or the tensor that it is a view of,
keeps its old elements.
"""

from typing import Any

import numpy as np

from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import Guard, NewFile
from relaxcheck.fixes.frontends.torch.converting import IMPORTER, OWNER
from relaxcheck.fixes.frontends.torch.graph.decomposing import (
    ARGUMENTS,
    METHOD,
    Program,
    decompositions,
    is_sparse,
    known_names,
    preparing,
)
from relaxcheck.fixes.frontends.torch.probing import program_differs

UPSTREAM = NewFile("relax/frontend/torch/aliases.py")


def functional(importer: Any, program: Program, custom: Any = None) -> Program:
    """``program`` without changes in place, if it has one of a tensor that is read by another name.

    PyTorch replaces them as it decomposes functions, here those that ``importer`` lacks. ``custom``
    has the user's own entries of the importer's table, if any.
    """
    if is_sparse(program) or not any(map(_is_seen_elsewhere, _changes(program.graph))):
        return program
    return program.run_decompositions(decompositions(known_names(importer, custom)))


def _changes(graph: Any) -> list[tuple[Any, Any]]:
    """Each node that changes a tensor in place, and the node of that tensor."""
    import torch

    changes = []
    for node in graph.nodes:
        if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
            continue
        for argument, value in zip(node.target._schema.arguments, node.args, strict=False):
            if argument.alias_info is not None and argument.alias_info.is_write:
                changes.append((node, value))
    return changes


def _is_seen_elsewhere(change: tuple[Any, Any]) -> bool:
    """True if a node other than the change and the changed one has its memory or reads it later."""
    node, changed = change
    memory = _memory(changed)
    for other in node.graph.nodes:
        if other not in (node, changed) and memory is not None and _memory(other) == memory:
            return True
    return any(node < user for user in changed.users)


def _memory(node: Any) -> Any:
    """The identity of the memory of the tensor of ``node``, None where it has none."""
    import torch

    value = getattr(node, "meta", {}).get("val")
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return None
    return value.untyped_storage()._cdata


def _loses_change() -> bool:
    import torch

    aten = torch.ops.aten
    graph = torch.fx.Graph()
    data = graph.call_function(aten.clone.default, (graph.placeholder("data"),))
    row = graph.call_function(aten.select.int, (data, 0, 0))
    graph.call_function(aten.add_.Tensor, (row, 1))
    graph.output((data,))
    return program_differs(graph, np.array([[1, 2], [3, 4]], np.float32))


FIX = Fix(
    name="torch_aliases",
    operators=(),
    fault="changes in place of views, as in x[0].add_(1), are lost in PyTorch programs",
    issue=None,
    parts=(FaultPart("views", _loses_change),),
    rebindings=preparing(functional),
    after="torch_decomposing",
    patch=(
        Guard(
            IMPORTER,
            f"{OWNER}.{METHOD}",
            functional,
            ARGUMENTS,
            result="exported_program",
        ),
    ),
)
