"""The reference's ``image.affine_grid``.

A place's coordinate is computed from its number by a step and a start, each rounded, so it may be
off by a few unit roundoffs of 1; the products with the matrix and their sum round as well.
"""

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference.attribute_values import flag, integers
from relaxcheck.oracles.reference.bounds import computed
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, ordinary, unknown
from relaxcheck.oracles.reference.evaluation import operator

_COORDINATE = 8
"""Unit roundoffs of 1 that a coordinate may be off by.

The step rounds, and its product with the number of the place: of 2 at most, so two roundoffs each.
The start and the sum round once. TVM shortens the step by 1e-7, which is up to two of float32.
"""


@operator("image.affine_grid")
def _affine_grid(node: Node, operands: list[Estimate]) -> Estimate:
    (matrices,) = operands
    size, aligned = integers(node, "size"), flag(node, "align_corners", True)
    shape, rank = matrices.value.shape, len(size)
    if rank not in (2, 3) or len(shape) != 3 or shape[1:] != (rank, rank + 1):
        raise ValueError(f"{node.operator}: matrices of shape {shape} for a grid of size {size}")
    if min(size) < (2 if aligned else 1):
        raise ValueError(f"{node.operator}: size {size} with align_corners {aligned}")
    x, dtype = ordinary(matrices), matrices.dtype
    places = np.stack(np.meshgrid(*(_line(n, aligned) for n in size), indexing="ij")[::-1])
    # Column k of a matrix meets the coordinate along x, y, z; the last stands alone.
    ones = np.ones((1, *size), places.dtype)
    columns = np.concatenate([places, ones])

    def spread(array: Array, by: Array) -> Array:
        grid: Array = np.einsum("nrc,c...->nr...", array, by)
        return grid

    value = spread(x.value, columns)
    off = np.concatenate([np.ones((rank, *size)), 0 * ones]).astype(np.float64)
    near, terms = np.abs(columns).astype(np.float64), rank + 2
    # Coordinates are at most 1, so what a coordinate is off by meets the elements themselves.
    slack = spread(x.reach, _COORDINATE * off + terms * near)
    moved = spread(x.error, near + off * _COORDINATE * FORMATS[dtype].unit)
    largest = spread(x.reach, off + ones.astype(np.float64))
    wild = spread(unknown(matrices).astype(np.float64), off + 1) > 0
    over = ~(largest * 1.01 <= FORMATS[dtype].largest)
    floor = terms * FORMATS[dtype].floor
    return computed(dtype, value, moved + floor, 1, slack=slack, unconstrained=wild | over)


def _line(count: int, aligned: bool) -> Array:
    """The coordinates of ``count`` places from -1 to 1."""
    at = np.arange(count, dtype=np.longdouble)
    return 2 * at / (count - 1) - 1 if aligned else (2 * at + 1) / count - 1
