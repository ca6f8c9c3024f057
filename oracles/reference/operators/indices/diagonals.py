"""The reference's triangles and identities, by the distance from the diagonal."""

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference.attribute_values import integer, integers, text
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, exact
from relaxcheck.oracles.reference.evaluation import operator
from relaxcheck.oracles.reference.operators.movement import moved


def _distance(rows: int, columns: int) -> Array:
    """The number of the diagonal that each element is on."""
    distance: Array = np.arange(columns) - np.arange(rows)[:, None]
    return distance


def _matrix(operand: Estimate) -> tuple[int, int]:
    if operand.value.ndim < 2:
        raise ValueError(f"a tensor of rank {operand.value.ndim} has no matrices")
    rows, columns = operand.value.shape[-2:]
    return rows, columns


@operator("tril")
def _tril(node: Node, operands: list[Estimate]) -> Estimate:
    kept = _distance(*_matrix(operands[0])) <= integer(node, "k", 0)
    return moved(operands[0], lambda each: np.where(kept, each, np.zeros((), each.dtype)))


@operator("triu")
def _triu(node: Node, operands: list[Estimate]) -> Estimate:
    kept = _distance(*_matrix(operands[0])) >= integer(node, "k", 0)
    return moved(operands[0], lambda each: np.where(kept, each, np.zeros((), each.dtype)))


@operator("eye")
def _eye(node: Node, operands: list[Estimate]) -> Estimate:
    (rows,) = integers(node, "n")
    (columns,) = (rows,) if node.attributes.get("m") is None else integers(node, "m")
    return _identity(rows, columns, integer(node, "k", 0), text(node, "dtype", "float32"))


@operator("eye_like")
def _eye_like(node: Node, operands: list[Estimate]) -> Estimate:
    if operands[0].value.ndim != 2:
        raise ValueError(f"a tensor of rank {operands[0].value.ndim} is no matrix")
    dtype = text(node, "dtype", operands[0].dtype)
    return _identity(*_matrix(operands[0]), integer(node, "k", 0), dtype)


def _identity(rows: int, columns: int, k: int, dtype: str) -> Estimate:
    ones = (_distance(rows, columns) == k).astype(np.float64 if dtype in FORMATS else np.int64)
    return exact(ones, dtype)
