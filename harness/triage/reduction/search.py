"""Reduction of any failing case, on or off the axes of its family, by changes of its structure.

A case is data, so plain functions over it make it simpler: the steps of its kind. The search
applies them in turn until none keeps the failure: the result is 1-minimal with respect to all of
them (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", TSE 2002). Every
step goes down in the order of ``Kind.measure``, so the search ends. It depends on the case and on
the outcomes of the candidates alone.

Hypothesis's shrinker does not drive it, because that shrinks the choices of a strategy. A stored
case has no such choices, and a drawn case is a point of its family's axes, which
``harness.triage.finding.reduce`` walks in the order that each axis declares, with the blame as its
result. For anything else (an absent attribute, a graph cut in two, a size on no axis) a strategy
would have to draw every program there is, with the start as a sequence of its choices.

**Validity.** A step knows no operator, so most candidates are invalid, and TVM's refusal of an
invalid program would look like the failure. Each candidate is therefore validated in the worker
(``Kind.validate``): TVM runs it only if the reference accepts it, and the reference has to refuse
an invalid program in the same words as before, numbers aside. If it has no entry for an operator of
the start, nothing is validated: ``Reduction.vetted`` is False then, and the user is told.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.kind import Step
from relaxcheck.harness.kinds import of
from relaxcheck.harness.outcomes.errors import normalise
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict

RUNNING = ("run", "oracle", "compare")
"""The stages in which inputs exist."""

REFUSED_FOR_ONE = 20
"""The candidates that the reference may refuse for each try: they cost as much less."""

Keeps = Callable[[AnyCase, Outcome], bool]


@dataclass(frozen=True, slots=True)
class Hit:
    """The first candidate that kept the failure: its number among those asked for, from 0."""

    number: int
    case: AnyCase
    outcome: Outcome


Search = Generator[Iterator[AnyCase], Hit | None, None]
"""A search asks for the first of some candidates that keeps the failure; None: none did."""


@dataclass(slots=True)
class Reduction:
    """The simplest case so far, and the effort.

    ``tried`` candidates ran, ``kept`` of them kept the failure, ``refused`` others did not run.
    ``minimal``: no step is left to try. ``familiar``: sizes that people use have replaced smaller
    ones after that. ``vetted``: the reference knows all operators.
    """

    case: AnyCase
    outcome: Outcome
    tried: int = 0
    kept: int = 0
    refused: int = 0
    minimal: bool = False
    familiar: bool = False
    vetted: bool = True

    def count(self, outcome: Outcome) -> None:
        """Count a candidate with ``outcome``."""
        if was_refused(outcome):
            self.refused += 1
        else:
            self.tried += 1

    def move(self, hit: Hit) -> None:
        """Continue from ``hit``."""
        self.case, self.outcome = hit.case, hit.outcome
        self.kept += 1

    def spent(self, tries: int) -> bool:
        """True if ``tries`` are used up."""
        return self.tried >= tries or self.refused >= tries * REFUSED_FOR_ONE


def same_standing(outcome: Outcome, start: Outcome) -> bool:
    """True if the reference judges two programs alike, as far as it was asked.

    If a worker died before it answered, the reference had accepted the program.
    """
    if outcome.reference is None or start.reference is None:
        return True
    reference, other = outcome.reference, start.reference
    return (reference.unknown, normalise(reference.refused)) == (
        other.unknown,
        normalise(other.refused),
    )


def was_refused(outcome: Outcome) -> bool:
    """True if the reference kept the case from running."""
    return (
        outcome.verdict is Verdict.HARNESS_ERROR
        and outcome.stage == "oracle"
        and outcome.reference is not None
    )


def search(case: AnyCase, outcome: Outcome, steps: Sequence[Step[AnyCase]] | None = None) -> Search:
    """Go from ``case`` down to where none of ``steps`` keeps its failure; default: of its kind."""
    kind = of(case)
    tried = {case.identifier}
    before = None
    while before is not case:
        before = case
        for step in kind.steps if steps is None else steps:
            while True:
                candidates = _Candidates(step(case, outcome), tried, kind.measure)
                hit = yield candidates.below(kind.measure(case))
                tried |= candidates.asked(hit)
                if hit is None:
                    break
                case, outcome = hit.case, hit.outcome


@dataclass(slots=True)
class _Candidates:
    """The candidates that a step made: new ones only, and simpler ones."""

    made: Iterator[AnyCase]
    tried: set[str]
    measure: Callable[[AnyCase], tuple[float, ...]]
    offered: list[str] = field(default_factory=list)

    def below(self, bound: tuple[float, ...]) -> Iterator[AnyCase]:
        """The candidates whose measure is below ``bound``."""
        for case in self.made:
            identifier = case.identifier
            if identifier in self.tried or identifier in self.offered:
                continue
            if self.measure(case) < bound:
                self.offered.append(identifier)
                yield case

    def asked(self, hit: Hit | None) -> set[str]:
        """The candidates up to ``hit``: those that were looked up ahead are not among them."""
        return set(self.offered if hit is None else self.offered[: hit.number + 1])
