"""Cases about integer expressions: many at a time in a block, or one of them alone.

Thousands of expressions are checked in a second, too many to be written down one by one before
they are. What is drawn, and stands in the journal, is a block; those of its expressions that fail
become cases of their own, and so do its halves where a block ends its worker.
"""

from collections.abc import Iterator
from hashlib import sha256

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from generators.algebra import drawn_at
from generators.algebra_case import ExpressionCase
from generators.algebra_reduction import smaller
from generators.expressions import size
from generators.program import Expectation, Identified, Valid

MEMBER_FORMAT, BLOCK_FORMAT = 2, 3

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


class _OfExpressions(Identified, frozen=True):
    """``at`` is where it was drawn: a value for each axis of the family."""

    family: str
    at: dict[str, Value]
    seed: int = 0
    fixes: bool = False

    @property
    def expect(self) -> Expectation:
        """Every expression is valid; where it has no value, nothing is asked of it."""
        return Valid()

    @property
    def regime(self) -> str:
        """Whose verdicts it is counted with: those of ordinary values."""
        return "normal"

    @property
    def position(self) -> str:
        """Where the expression stands: one of ``POSITIONS``."""
        return str(self.at["position"])

    @property
    def points(self) -> str:
        """Where it is computed; where it has no value, all that is asked is to live."""
        return str(self.at.get("points", DEFINED))

    @property
    def opt_level(self) -> int:
        """LLVM's level, where something is compiled."""
        return int(self.at.get("opt_level") or 0)


class Member(_OfExpressions, frozen=True, kw_only=True, tag_field="format", tag=MEMBER_FORMAT):
    """One expression, ``subject``, alone; what is made of it by reduction keeps its ``at``.

    Where ``about`` names one fault (``harness.fault.Fault.key``), no other counts: what
    else fails is known already.
    """

    subject: ExpressionCase
    about: str | UnsetType = UNSET

    @property
    def smaller(self) -> "Iterator[Member]":
        """Simpler ones, the simplest first."""
        if self.opt_level:
            yield replace(self, at={**self.at, "opt_level": 0})
        for one in smaller(self.subject):
            yield replace(self, subject=one)


class Block(_OfExpressions, frozen=True, kw_only=True, tag_field="format", tag=BLOCK_FORMAT):
    """The expressions number ``first`` to ``first + count - 1`` of those that ``seed`` draws."""

    first: int = 0
    count: int = 1

    def __post_init__(self) -> None:
        if self.count < 1 or self.first < 0:
            raise ValueError(f"a block of {self.count} expressions from number {self.first}")

    @property
    def members(self) -> tuple[Member, ...]:
        """Its expressions, each as a case of its own; none twice, so there may be fewer than drawn.

        Expressions have no numbers: two that are equal are one case, which counts once.
        """
        drawn = (
            Member(
                family=self.family,
                at=self.at,
                seed=self.seed,
                fixes=self.fixes,
                subject=drawn_at(self.at, _mixed(self.seed, number)),
            )
            for number in range(self.first, self.first + self.count)
        )
        return tuple({one.identifier: one for one in drawn}.values())

    @property
    def halves(self) -> "tuple[Block, ...]":
        """The block in two; none where it holds a single expression."""
        if self.count == 1:
            return ()
        left = self.count // 2
        return (self._part(self.first, left), self._part(self.first + left, self.count - left))

    def _part(self, first: int, count: int) -> "Block":
        return replace(self, first=first, count=count)


def _mixed(seed: int, number: int) -> int:
    """A seed of 64 bits for the expression ``number``; neighbours have nothing in common."""
    return int.from_bytes(sha256(f"{seed}/{number}".encode()).digest()[:8], "big")


def extent(case: Member) -> str:
    """How big ``case`` is, for a person: nodes and variables."""
    nodes, variables = size(case.subject.expression), len(case.subject.variables)
    return f"{nodes} node{'s' * (nodes != 1)}, {variables} variable{'s' * (variables != 1)}"
