"""Attribution as data: what was put back to its default in a failing case, and what came of it."""

import enum
from collections.abc import Iterable

import msgspec

from relaxcheck.generators.core.attributes import Attribute
from relaxcheck.harness.outcomes.outcome import Verdict


class Aspect(enum.StrEnum):
    """The kinds of differences between two cases."""

    ATTRIBUTE = "attribute"
    DTYPE = "dtype"
    SYMBOL = "symbol"
    NODE = "node"
    CONSTANT = "constant"
    SETTING = "setting"
    SHAPE = "shape"
    VALUES = "values"
    INPUT = "input"
    DIMENSION = "dimension"
    DEFAULT = "default"
    ITEM = "item"
    OPERANDS = "operands"


class Difference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A setting called ``name`` that is ``was`` in one case and ``to`` in another (None: absent).

    The name is that of an attribute, an input, a symbol, an operator or a field of ``Case``; of
    values it is their kind: ``large``, ``low``, ``small``, ``lowest`` or ``highest`` of integers,
    ``largest`` or ``least`` of floats, whose ``was`` is a word if infinite. In ``to``, a
    ``dimension`` is an equal expression, a symbol a size, or None for its own; an attribute that is
    a ``default`` in ``was`` has another value, an ``item`` of a tuple is another one, and the
    ``operands`` that a call takes as one tuple are more.
    """

    what: Aspect
    name: str
    was: Attribute
    to: Attribute


def named(differences: Iterable[Difference]) -> frozenset[tuple[Aspect, str]]:
    """The kinds of ``differences``; a shape is none where it only follows from others."""
    kinds = [(difference.what, difference.name) for difference in differences]
    others = [kind for kind in kinds if kind[0] is not Aspect.SHAPE]
    return frozenset(others or kinds)


_ERRORS = frozenset({Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED})


class Condition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The verdicts on the case with these ``differences``, one for each draw of the inputs.

    In ``alike`` of them it failed in the same way, so that they are not to blame; ``undecided`` of
    them were cut short by a limit, and say nothing. ``axis`` is the family's axis that they are
    on, where they are on one.
    """

    differences: tuple[Difference, ...]
    verdicts: tuple[Verdict, ...]
    alike: int
    axis: str = ""
    undecided: int = 0

    @property
    def holds(self) -> bool:
        """True if the failure was gone with every draw."""
        return not self.alike and not self.undecided

    @property
    def known(self) -> bool:
        """True unless a limit cut a run short: then nobody knows if the failure was gone."""
        return bool(self.alike) or not self.undecided

    @property
    def named(self) -> frozenset[tuple[Aspect, str]]:
        """The kinds of its differences."""
        return named(self.differences)

    @property
    def passes(self) -> bool:
        """True if it passed with every draw."""
        return all(verdict.is_right for verdict in self.verdicts)


class Attribution(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The settings put back in a case that failed in ``failed`` of ``drawn`` draws of its inputs.

    Draws that a limit cut short do not count. ``siblings`` have other dtypes in the place of blamed
    ones, and fail all the same: the blame is not that of the one dtype.
    """

    drawn: int
    failed: int
    conditions: tuple[Condition, ...] = ()
    siblings: tuple[Condition, ...] = ()

    @property
    def blamed(self) -> tuple[Condition, ...]:
        """The conditions under which it did not fail in the same way.

        Without those that contain another such condition: the rest of them need not matter. An
        error of another kind may hide the failure, and shows nothing where a change to a pass does;
        but the error of a symbolic size is none that a static size raises.
        """
        held = [condition for condition in self.conditions if condition.holds]
        if any(condition.passes for condition in held):
            held = [
                condition
                for condition in held
                if not _ERRORS.issuperset(condition.verdicts)
                or any(aspect is Aspect.SYMBOL for aspect, _ in condition.named)
            ]
        return tuple(
            condition
            for condition in held
            if not any(other.named < condition.named for other in held)
        )

    def needed(self, condition: Condition) -> tuple[Difference, ...]:
        """The differences of ``condition`` without those that alone did not matter."""
        alike = [alone for alone in self.conditions if alone.alike and len(alone.named) == 1]
        innocent = {name for alone in alike for name in alone.named}
        needed = tuple(
            difference
            for difference in condition.differences
            if (difference.what, difference.name) not in innocent
        )
        return needed or condition.differences
