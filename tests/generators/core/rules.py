"""Rules of operators whose operands hold values of a kind, written from the definitions."""

from collections.abc import Callable, Mapping
from typing import Any

from relaxcheck.generators.core.program import Case, Misfit, Node

Rule = Callable[[Node, Case], set[str]]
"""The names of the faults of a case, at its first binding."""


def _operands(node: Node, case: Case) -> list[tuple[tuple[int, ...], str]]:
    """The shape and dtype of each argument; all are inputs."""
    tensors = [case.program.input(name) for name in node.arguments]
    assert not any(isinstance(tensor.fill, Misfit) for tensor in tensors)
    return [(case.shape(tensor.name, case.bindings[0]), tensor.dtype) for tensor in tensors]


def _sampled(node: Node, case: Case) -> set[str]:
    (prob, real), (sample, other), (rows, whole) = _operands(node, case)
    faults = set() if "float" in real and "float" in other and "int" in whole else {"dtype"}
    if {len(prob), len(sample), len(rows)} != {2}:
        return faults | {"rank"}
    faults |= {"size"} if sample[1] != 1 or rows[1] != 1 else set()
    return faults | ({"batch"} if sample[0] != rows[0] else set())


RULES: Mapping[str, Rule] = {"multinomial_from_uniform": _sampled}
"""Rules by operator."""

REQUIRED: Mapping[str, Any] = {
    "multinomial_from_uniform": {"dtype-int32", "numbers-of-samples-differ", "rank-of-argument-2"},
}
"""Kinds of faults that a family has at least."""
