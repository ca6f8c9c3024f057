"""Cases about integer expressions: a batch of many, or a single expression.

Thousands of expressions are checked in a second, too many to record each of them beforehand. So a
batch is drawn and recorded in the journal. Its expressions that fail become cases of their own, and
so do its halves if a batch ends its worker.
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import ClassVar

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from relaxcheck.generators.core.case import AnyCase, Data, Expectation, Refusable, Valid
from relaxcheck.generators.expressions.drawing import drawn_at
from relaxcheck.generators.expressions.language import size
from relaxcheck.generators.expressions.reduction import smaller
from relaxcheck.generators.expressions.subject import Problem

EXPRESSION_FORMAT, BATCH_FORMAT = 2, 3

ANALYZED, VALUE, INDEX, SHAPE = "analyzer", "value", "index", "shape"
PARAMETER, EXTENT = "parameter", "extent"
POSITIONS = (ANALYZED, VALUE, INDEX, SHAPE, PARAMETER, EXTENT)
"""Where an expression stands: the analyzer is asked about it; a kernel computes it; it indexes a
buffer in a kernel; or it is a size in a Relax function: one of a shape that this returns, that of a
tensor that it is given, or that of a tensor that it makes."""

SIZES = (SHAPE, PARAMETER, EXTENT)
"""Where it is a size."""

DEFINED, UNDEFINED, NEGATIVE = "defined", "undefined", "negative"
"""Where an expression is computed: where it has a value, where a divisor is zero, or where what is
to be the extent of a tensor is negative."""

Value = bool | int | str | None


class _OfExpressions(Data, AnyCase, frozen=True):
    """``at`` is where it was drawn: a value for each axis of the family."""

    kind: ClassVar[str] = "expression"

    family: str
    at: dict[str, Value]
    seed: int = 0
    fixes: bool = False

    @property
    def expect(self) -> Expectation:
        """Every expression is valid, and where it has no value, nothing is asked of it.

        An extent that is negative has to be refused.
        """
        return Refusable() if self.points == NEGATIVE else Valid()

    @property
    def regime(self) -> str:
        """The regime of ordinary values."""
        return "normal"

    @property
    def position(self) -> str:
        """The position of the expression: one of ``POSITIONS``."""
        return str(self.at["position"])

    @property
    def points(self) -> str:
        """The points that it is computed at; where it has no value, it must only not crash."""
        return str(self.at.get("points", DEFINED))

    @property
    def opt_level(self) -> int:
        """LLVM's level, where something is compiled."""
        return int(self.at.get("opt_level") or 0)


class ExpressionCase(
    _OfExpressions, frozen=True, kw_only=True, tag_field="format", tag=EXPRESSION_FORMAT
):
    """One expression, ``subject``, alone; what is made of it by reduction keeps its ``at``.

    Where ``about`` names one fault (``harness.expressions.fault.Fault.key``), no other counts: what
    else fails is known already.
    """

    subject: Problem
    about: str | UnsetType = UNSET

    @property
    def smaller(self) -> "Iterator[ExpressionCase]":
        """Simpler ones, the simplest first."""
        if self.opt_level:
            yield replace(self, at={**self.at, "opt_level": 0})
        for subject in smaller(self.subject):
            yield replace(self, subject=subject)


class ExpressionBatch(
    _OfExpressions, frozen=True, kw_only=True, tag_field="format", tag=BATCH_FORMAT
):
    """The expressions number ``first`` to ``first + count - 1`` of those that ``seed`` draws."""

    first: int = 0
    count: int = 1

    def __post_init__(self) -> None:
        if self.count < 1 or self.first < 0:
            raise ValueError(f"a batch of {self.count} expressions from number {self.first}")

    @property
    def members(self) -> tuple[ExpressionCase, ...]:
        """Its expressions, each as a case of its own; none twice, so there may be fewer than drawn.

        Expressions have no numbers: two that are equal are one case, which counts once.
        """
        drawn = (
            ExpressionCase(
                family=self.family,
                at=self.at,
                seed=self.seed,
                fixes=self.fixes,
                subject=drawn_at(self.at, _mixed(self.seed, number)),
            )
            for number in range(self.first, self.first + self.count)
        )
        return tuple({case.identifier: case for case in drawn}.values())

    @property
    def halves(self) -> "tuple[ExpressionBatch, ...]":
        """The batch in two; none where it holds a single expression."""
        if self.count == 1:
            return ()
        left = self.count // 2
        return (self._part(self.first, left), self._part(self.first + left, self.count - left))

    def _part(self, first: int, count: int) -> "ExpressionBatch":
        return replace(self, first=first, count=count)


def _mixed(seed: int, number: int) -> int:
    """A seed of 64 bits for the expression ``number``; neighbours have nothing in common."""
    return int.from_bytes(sha256(f"{seed}/{number}".encode()).digest()[:8], "big")


def extent(case: ExpressionCase) -> str:
    """The size of ``case``, for a person: nodes and variables."""
    nodes, variables = size(case.subject.expression), len(case.subject.variables)
    return f"{nodes} node{'s' * (nodes != 1)}, {variables} variable{'s' * (variables != 1)}"
