"""Calls that overwrite arguments: the indices that their definition allows."""

from relaxcheck.generators.core.called.meanings import function_of
from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import Refused

OVERWRITING = ("call_inplace_packed", "call_tir_inplace")


def check(node: Node) -> None:
    """Check the indices of ``node``.

    Raises:
        Refused: one is out of range, is there twice, or nothing is overwritten.
    """
    if node.operator not in OVERWRITING:
        return
    indices, count = node.attributes["inplace_indices"], len(node.arguments)
    assert isinstance(indices, tuple)
    wrong = f"{node.operator}: inplace_indices {indices}"
    if len(indices) != len(function_of(node).results):
        raise Refused(f"{wrong}: there is to be one for each result")
    if any(index not in range(-1, count) for index in indices):
        raise Refused(f"{wrong}: an index is to be from -1 to {count - 1}")
    if max(indices) < 0:
        raise Refused(f"{wrong}: one index is to be that of an argument")
    if any(indices.count(index) > 1 for index in range(count)):
        raise Refused(f"{wrong}: an index of an argument is there twice")
