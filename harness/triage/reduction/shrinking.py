"""Shrinking: smaller sizes on the axes of a family that a failure does not blame.

``harness.triage.finding.reduce`` ends at the defaults, which are sizes at which faults show: 4, 8,
three axes of different lengths. A person prefers 1 and 2, but for axes that declare familiar sizes:
a kernel of 3 by 3 is read faster than one of 1 by 1. The result stays a point of its family, valid
by construction.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from relaxcheck.generators.core.axes import (
    Axis,
    Family,
    Point,
    enlarged,
    is_size,
    point_of,
    settle,
    with_defaults,
)
from relaxcheck.generators.core.case import AnyCase, compiled_like
from relaxcheck.harness.kind import Trials
from relaxcheck.harness.kinds import of
from relaxcheck.harness.triage.finding import Reduced
from relaxcheck.harness.triage.fingerprint import Signature, same_signature, signature_of

MOST_TRIES = 60


def shrink(family: Family, reduced: Reduced) -> Trials[Reduced]:
    """``reduced`` with smaller sizes on the axes that it does not blame.

    All at once, halved if that cures the failure, then one by one, with at most ``MOST_TRIES``
    tries; at last familiar sizes, all at once, with two tries more. Deterministic. The result has
    the same signature, and so the same fingerprint, and passes with all blamed axes at their
    defaults. If it does not, another cause fails at these sizes: the sizes before are returned, or
    ``reduced`` as it is.
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
    smallest = walk.point, walk.reduced
    if (yield from walk.familiar()) and (yield from walk.cured()):
        return walk.reduced
    walk.point, walk.reduced = smallest
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
        if axis.name in self.blamed or not is_size(own) or not is_size(axis.default):
            return ()
        return sorted(value for value in axis.values if is_size(value) and value < own)

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
        return (yield from self._moved(point, case))

    def familiar(self) -> Trials[bool]:
        """Move all axes with familiar sizes to the first, and others to the least that fits them.

        True if there are such axes and the failure is there too. All or none: a kernel of 1 by 3 is
        no more familiar than one of 1 by 1.
        """
        declared = {
            axis.name: sizes
            for axis in self.family.axes
            if (sizes := [value for value in axis.familiar if is_size(value)])
        }
        wanted = {
            name: sizes[0] for name, sizes in declared.items() if self.point[name] not in sizes
        }
        if not wanted or wanted.keys() & self.blamed:
            return False
        axes = self.family.axes
        others = {
            axis.name
            for axis in axes
            if axis.name not in self.blamed | declared.keys() and is_size(axis.default)
        }
        point = enlarged(axes, {**self.point, **wanted}, others)
        if point is None:
            return False
        return (yield from self._moved(point, self._at(point)))

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

    def _moved(self, point: Point, case: AnyCase) -> Trials[bool]:
        """Move to ``point``, whose case is ``case``, if the failure is there; True if it is."""
        outcome = yield case
        if signature_of(case, outcome) != self.signature:
            return False
        self.point = point
        self.reduced = Reduced(case, outcome, self.reduced.blame)
        return True

    def _at(self, point: Point) -> AnyCase:
        case = self.reduced.case
        return compiled_like(self.family.build(point, case.seed), case)

    def _smaller(self, point: Point) -> bool:
        """True if only sizes changed, none of them upwards."""
        return all(
            value == self.point[name]
            or (is_size(value) and is_size(before := self.point[name]) and value < before)
            for name, value in point.items()
        )
