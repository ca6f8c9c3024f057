"""Shrinking: smaller sizes on the axes of a family that a failure does not blame.

``harness.triage.finding.reduce`` ends at the defaults, which are sizes at which faults show: 4, 8,
three axes of different lengths. A person prefers 1 and 2. The result stays a point of its family,
valid by construction.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from relaxcheck.generators.core.axes import Axis, Family, Point, point_of, settle, with_defaults
from relaxcheck.generators.core.case import AnyCase, Value, with_fixes
from relaxcheck.harness.kind import Trials
from relaxcheck.harness.kinds import of
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.triage.finding import Reduced
from relaxcheck.harness.triage.fingerprint import Signature, same_signature, signature_of

MOST_TRIES = 60


def shrink(family: Family, reduced: Reduced) -> Trials[Reduced]:
    """``reduced`` with smaller sizes on the axes that it does not blame.

    All at once, halved if that cures the failure, then one by one. Deterministic, with at most
    ``MOST_TRIES`` tries. The result has the same signature, and so the same fingerprint, and passes
    with all blamed axes at their defaults. If it does not, another cause fails at the small sizes,
    and ``reduced`` is returned as it is.
    """
    if not of(reduced.case).along_axes:
        return reduced
    try:
        point = point_of(family, reduced.case)
    except ValueError:
        return reduced
    signature = signature_of(reduced.case, reduced.outcome)
    walk = _Shrinking(family, signature, frozenset(reduced.blame), point, reduced)
    yield from walk.halving([axis for axis in family.axes if walk.smaller(axis)])
    moved = True
    while moved:
        moved = False
        for axis in family.axes:
            for value in walk.smaller(axis):
                if (yield from walk.to({axis.name: value})):
                    moved = True
                    break
    if walk.reduced is reduced or (yield from walk.cured()):
        return walk.reduced
    return reduced


@dataclass(slots=True)
class _Shrinking:
    """A walk of a failure to smaller sizes."""

    family: Family
    signature: Signature
    blamed: frozenset[str]
    point: Point
    reduced: Reduced
    tried: set[str] = field(default_factory=set)

    def smaller(self, axis: Axis) -> Sequence[int]:
        """The sizes below that of ``axis``, the smallest first; none if its value is no size."""
        own = self.point[axis.name]
        if axis.name in self.blamed or not _is_size(own) or not _is_size(axis.default):
            return ()
        return sorted(value for value in axis.values if _is_size(value) and 0 < value < own)

    def to(self, sizes: Point) -> Trials[bool]:
        """Move to the point with ``sizes`` if the failure is there too; True if it is."""
        fixed = (*sizes, *self.blamed)
        point = settle(self.family.axes, {**self.point, **sizes}, fixed)
        if point is None or not self._smaller(point):
            return False
        case = self._at(point)
        if case.identifier in self.tried or len(self.tried) >= MOST_TRIES:
            return False
        self.tried.add(case.identifier)
        outcome = yield case
        if not self._alike(case, outcome):
            return False
        self.point = point
        self.reduced = Reduced(case, outcome, self.reduced.blame)
        return True

    def halving(self, axes: Sequence[Axis]) -> Trials[None]:
        """Move ``axes`` to their smallest sizes as far as the failure stays."""
        sizes = {axis.name: self.smaller(axis)[0] for axis in axes if self.smaller(axis)}
        if sizes and not (yield from self.to(sizes)) and len(axes) > 1:
            half = len(axes) // 2
            yield from self.halving(axes[half:])
            yield from self.halving(axes[:half])

    def cured(self) -> Trials[bool]:
        """True if the failure is gone without its blame, or that cannot be tried."""
        without = with_defaults(self.family.axes, self.point, tuple(self.blamed))
        if not self.blamed or without is None:
            return True
        case = self._at(without)
        outcome = yield case
        return not same_signature(case, outcome, self.signature)

    def _at(self, point: Point) -> AnyCase:
        case = self.reduced.case
        return with_fixes(self.family.build(point, case.seed), case.fixes)

    def _alike(self, case: AnyCase, outcome: Outcome) -> bool:
        return signature_of(case, outcome) == self.signature

    def _smaller(self, point: Point) -> bool:
        """True if only sizes changed, none of them upwards."""
        return all(
            value == self.point[name]
            or (_is_size(value) and _is_size(before := self.point[name]) and value < before)
            for name, value in point.items()
        )


def _is_size(value: Value) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
