"""The way in which the results of each node are bound to names."""

from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.torch.module import (
    argument_of,
    function_at,
    laid_out,
    module_of,
    tensor_of,
)
from relaxcheck.generators.torch.program import COND, Program
from relaxcheck.reports.torch.calls import safe


def bindings(program: Program, arrays: dict[str, Array], seed: int, regime: str) -> dict[int, str]:
    """The names that each node's result is assigned to, by its number, as the program runs.

    A function may return a tensor, a tuple, or tuples in a tuple. A node that PyTorch refuses, and
    those behind it, are left out.
    """
    held = {each.name: arrays[each.name] for each in program.tensors if each.constant}
    module: Any = module_of(program, held, seed, regime)
    values: dict[str, Any] = {
        tensor.name: laid_out(tensor_of(arrays[tensor.name]), tensor.layout)
        for tensor in program.tensors
    }
    found: dict[int, str] = {}
    for number, node in enumerate(program.nodes):
        try:
            called = (
                getattr(module, node.target)
                if node.target in program.layers
                else function_at(node.target)
            )
            args = [argument_of(each, values) for each in node.args]
            keywords = {key: argument_of(each, values) for key, each in node.keywords.items()}
            if node.target == COND:
                args[3:] = [list(each) for each in args[3:]]
            with torch.no_grad():
                result = called(*args, **keywords)
        except Exception:
            # A script of it shows PyTorch's error.
            return found
        names = [safe(name) if name else "_" for name in node.outputs]
        found[number] = _pattern(result, names)
        for name, leaf in zip(node.outputs, tree_leaves(result), strict=False):
            if name:
                values[name] = leaf
    return found


def _pattern(result: Any, names: list[str]) -> str:
    """The left side of an assignment of ``result``, whose first leaves are bound to ``names``."""
    left = list(names)

    def pattern(part: Any) -> str:
        if isinstance(part, tuple | list) and not isinstance(part, torch.Size):
            inner = [pattern(each) for each in part]
            return f"({inner[0]},)" if len(inner) == 1 else f"({', '.join(inner)})"
        return left.pop(0) if left else "_"

    text = pattern(result)
    return text[1:-1] if text.startswith("(") and not text.endswith(",)") else text
