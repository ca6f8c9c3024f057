"""Rules of operators whose operands hold values of a kind, written from the definitions."""

from collections.abc import Callable, Mapping
from typing import Any

from relaxcheck.generators.core.fills.kinds import Misfit
from relaxcheck.generators.core.program import Case, Node

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


def _row_places(node: Node, length: int) -> set[str]:
    score, identity = node.attributes["score_index"], node.attributes["id_index"]
    assert isinstance(score, int)
    assert isinstance(identity, int)
    faults = set() if 0 <= score < length else {"score_index"}
    return faults | (set() if -1 <= identity < length else {"id_index"})


def _counted(node: Node, case: Case) -> set[str]:
    ((shape, _),) = _operands(node, case)
    return {"rank"} if len(shape) != 3 else _row_places(node, shape[2])


def _suppressed(node: Node, case: Case) -> set[str]:
    made = {each.name: each.arguments[0] for each in case.program.nodes}
    if node.arguments[0] in made:
        # These are the rows of one input, counted.
        data = case.shape(made[node.arguments[0]], case.bindings[0])
        counts, places, kind, other = data[:1], data[:2], "int32", "int32"
    else:
        (data, _), (counts, kind), (places, other) = _operands(node, case)
    faults = set() if (kind, other) == ("int32", "int32") else {"dtype"}
    if (len(data), len(counts), len(places)) != (3, 1, 2):
        return faults | {"rank"}
    faults |= _row_places(node, data[2])
    start = node.attributes["coord_start"]
    assert isinstance(start, int)
    faults |= set() if 0 <= start <= data[2] - 4 else {"coord_start"}
    faults |= {"batch"} if not data[0] == counts[0] == places[0] else set()
    return faults | ({"anchor"} if data[1] != places[1] else set())


def _of_classes(node: Node, case: Case) -> set[str]:
    (boxes, _), (scores, _), *_ = _operands(node, case)
    if len(boxes) != 3 or len(scores) != 3:
        return {"rank"}
    return set() if boxes[1] == scores[2] else {"boxes"}


RULES: Mapping[str, Rule] = {
    "multinomial_from_uniform": _sampled,
    "vision.all_class_non_max_suppression": _of_classes,
    "vision.get_valid_counts": _counted,
    "vision.non_max_suppression": _suppressed,
}
"""Rules by operator."""

REQUIRED: Mapping[str, Any] = {
    "multinomial_from_uniform": {"dtype-int32", "numbers-of-samples-differ", "rank-of-argument-2"},
    "all_class_non_max_suppression": {"rank-of-argument-1", "numbers-of-boxes-differ"},
    "get_valid_counts": {"rank-of-argument-0", "score-index-negative", "id-index-below-none"},
    "non_max_suppression": {"batches-differ", "numbers-of-boxes-differ", "corners-out-of-range"},
}
"""Kinds of faults that a family has at least."""
