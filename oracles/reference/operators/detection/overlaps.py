"""Boxes of exact corners: what they have in common, and whether that is decided."""

from dataclasses import dataclass

import numpy as np

from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference.estimate import FORMATS, Errors, Estimate, Flags

_ROUNDINGS = 8
"""Roundings of a quotient of areas: of two sides, three areas, two sums and itself."""


@dataclass(frozen=True, slots=True)
class Overlaps:
    """The quotient of intersection and union for each pair of boxes, and its error."""

    quotient: Array
    error: Errors

    def over(self, limit: float, dtype: str, *, strictly: bool) -> tuple[Flags, Flags]:
        """Flag pairs over ``limit``, and those where rounding may decide.

        A quotient that equals it is over it unless ``strictly``. No overlap and complete overlap
        are exact in every implementation; of others, none that is as near is decided.
        """
        off = self.error + np.abs(limit) * FORMATS[dtype].unit
        unsure = np.abs(self.quotient - limit) <= off
        if strictly:
            unsure &= (self.quotient != 0) & (self.quotient != 1)
            return self.quotient > limit, unsure
        return self.quotient >= limit, unsure


def overlaps(corners: Array, dtype: str) -> Overlaps:
    """The overlaps of ``corners``, (boxes, 4): two opposite corners each, in either order."""
    first, second = corners[:, :2], corners[:, 2:]
    low, high = np.minimum(first, second), np.maximum(first, second)
    inner = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
    common = np.maximum(inner, 0).prod(-1)
    area = (high - low).prod(-1)
    union = area[:, None] + area - common
    quotient = np.where(union > 0, common / np.where(union > 0, union, 1), 0)
    error = _ROUNDINGS * FORMATS[dtype].unit * np.abs(quotient).astype(np.float64)
    return Overlaps(quotient, error)


def is_exact(*operands: Estimate) -> bool:
    """True if every element is a known number."""
    return all(np.isfinite(each.value).all() and not each.error.any() for each in operands)
