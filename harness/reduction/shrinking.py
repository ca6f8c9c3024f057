"""Smaller sizes for what a family's axes allow, once it is known what a failure is blamed on.

``harness.finding.reduce`` ends at the defaults, which are sizes at which faults show: 4, 8, three
axes of different lengths. A person wants to read 1 and 2. On the grid the result stays a point of
its family, valid by construction, whose blame can be looked at axis by axis.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

import msgspec

from generators.axes import Axis, Family, Point, Value, settle, with_defaults
from generators.cases import AnyCase
from generators.program import Case
from harness.finding import Reduced, Trials
from harness.fingerprint import Kind, kind_of, same_kind
from harness.outcome import Outcome

MOST_TRIES = 60


def shrink(family: Family, reduced: Reduced) -> Trials[Reduced]:
    """``reduced`` with smaller sizes on the axes that nothing is blamed on.

    All at once, halved where that cures the failure, then one by one. Deterministic, and at most
    ``MOST_TRIES`` tries. What comes of it is of the same kind with the same operators, so that its
    fingerprint is the same; and it is cured where all that is blamed is at its default. Where it is
    not, another cause fails at the small sizes, and ``reduced`` stays as it is.
    """
    if not isinstance(reduced.case, Case):
        return reduced
    try:
        point = family.point(reduced.case)
    except ValueError:
        return reduced
    kind = kind_of(reduced.case, reduced.outcome)
    walk = _Shrinking(family, kind, frozenset(reduced.blame), point, reduced)
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
    """A failure on its way to smaller sizes."""

    family: Family
    kind: Kind
    blamed: frozenset[str]
    point: Point
    reduced: Reduced
    tried: set[str] = field(default_factory=set)

    def smaller(self, axis: Axis) -> Sequence[int]:
        """The sizes below that of ``axis``, the smallest first; none where it is no size."""
        own = self.point[axis.name]
        if axis.name in self.blamed or not _is_size(own) or not _is_size(axis.default):
            return ()
        return sorted(value for value in axis.values if _is_size(value) and 0 < value < own)

    def to(self, sizes: Point) -> Trials[bool]:
        """Move to where ``sizes`` are if the failure is there too; whether it was."""
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
        """Move all of ``axes`` to their smallest sizes that the failure can do without."""
        sizes = {axis.name: self.smaller(axis)[0] for axis in axes if self.smaller(axis)}
        if sizes and not (yield from self.to(sizes)) and len(axes) > 1:
            half = len(axes) // 2
            yield from self.halving(axes[half:])
            yield from self.halving(axes[:half])

    def cured(self) -> Trials[bool]:
        """Whether the failure goes with what is blamed; true where that cannot be tried."""
        without = with_defaults(self.family.axes, self.point, tuple(self.blamed))
        if not self.blamed or without is None:
            return True
        case = self._at(without)
        outcome = yield case
        return not same_kind(case, outcome, self.kind)

    def _at(self, point: Point) -> AnyCase:
        case = self.reduced.case
        return msgspec.structs.replace(self.family.build(point, case.seed), fixes=case.fixes)

    def _alike(self, case: AnyCase, outcome: Outcome) -> bool:
        return kind_of(case, outcome) == self.kind

    def _smaller(self, point: Point) -> bool:
        """Whether no axis but sizes moved, and none of those upwards."""
        return all(
            value == self.point[name]
            or (_is_size(value) and _is_size(before := self.point[name]) and value < before)
            for name, value in point.items()
        )


def _is_size(value: Value) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
