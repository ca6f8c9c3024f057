"""Reduction of any failing case, on or off its family's grid, by changes of its structure.

A case is data, so what makes it simpler are plain functions over it (the modules ``*_steps``). The
search applies them in turn until none of them keeps the failure: the result is 1-minimal (Zeller
and Hildebrandt, "Simplifying and isolating failure-inducing input", TSE 2002) with respect to all
of them. Every step goes down in the order of ``harness.reduction.simplicity``, so the search ends;
it depends on the case and on what comes of the candidates, on nothing else.

Hypothesis's shrinker does not drive it. It shrinks the sequence of choices that a strategy made. A
stored case has none; and one that is drawn is a point of its family's axes, for which
``harness.finding.reduce`` walks in the order that each axis declares, with the blame as its result.
For what is not drawn at all (an attribute that is absent, a graph cut in two, a size on no axis)
a strategy would have to draw every program there is, with the start as a sequence of its choices.

**Validity.** A step knows no operator, so most candidates are no valid programs, and that TVM
refuses one of those would look like the failure. Each candidate is therefore vetted in the worker
(``harness.vetting``): TVM runs it only if the reference, which holds every operator to its
definition, accepts it; and a program that is invalid has to be refused by the reference in the same
words as before, numbers aside. Where it has no entry for an operator of the start, it vets nothing:
then ``Reduction.vetted`` is False, and the user is told.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field

from generators.axes import Family, complete
from generators.cases import AnyCase
from generators.expression_cases import Member
from generators.program import Case
from harness.errors import normalise
from harness.outcome import Outcome, Verdict
from harness.reduction import graph_steps, setting_steps, size_steps, value_steps
from harness.reduction.simplicity import Defaults, Measure, measure
from harness.reduction.steps import Known, Step

STEPS: tuple[Step, ...] = (
    graph_steps.outputs,
    graph_steps.nodes,
    graph_steps.arguments,
    graph_steps.inputs,
    setting_steps.settings,
    setting_steps.bindings,
    setting_steps.static,
    value_steps.attributes,
    value_steps.layouts,
    value_steps.dtypes,
    value_steps.constants,
    size_steps.sizes,
    value_steps.fills,
    setting_steps.seeds,
)
"""What a reader has to understand first goes first; then what makes the rest cheaper to try."""

RUNNING = ("run", "oracle", "compare")
"""The stages in which inputs are there."""

REFUSED_FOR_ONE = 20
"""So many candidates may be refused by the reference for each try: they cost as much less."""

Keeps = Callable[[AnyCase, Outcome], bool]


@dataclass(frozen=True, slots=True)
class Hit:
    """The first candidate that kept the failure: its number among those asked for, from 0."""

    number: int
    case: AnyCase
    outcome: Outcome


Search = Generator[Iterator[AnyCase], Hit | None, None]
"""Asks for the first of some candidates that keeps the failure; None says that none did."""


@dataclass(slots=True)
class Reduction:
    """A failure as simple as was found, and what that took.

    ``tried`` candidates ran, ``kept`` of them kept the failure, ``refused`` others were not run.
    ``minimal``: no step of any kind is left to try. ``vetted``: the reference knows the program.
    """

    case: AnyCase
    outcome: Outcome
    tried: int = 0
    kept: int = 0
    refused: int = 0
    minimal: bool = False
    vetted: bool = True

    def count(self, outcome: Outcome) -> None:
        """Count a candidate that ``outcome`` came of."""
        if was_refused(outcome):
            self.refused += 1
        else:
            self.tried += 1

    def move(self, hit: Hit) -> None:
        """Go on from ``hit``."""
        self.case, self.outcome = hit.case, hit.outcome
        self.kept += 1

    def spent(self, tries: int) -> bool:
        """Whether ``tries`` are used up."""
        return self.tried >= tries or self.refused >= tries * REFUSED_FOR_ONE


def defaults_of(families: Iterable[Family]) -> Defaults:
    """The attributes of each operator of ``families`` at the default of every axis."""
    found: Defaults = {}
    for family in families:
        case = family.build(complete(family.axes, {}), 0)
        for node in case.program.nodes if isinstance(case, Case) else ():
            found.setdefault(node.operator, dict(node.attributes))
    return found


def same_standing(outcome: Outcome, start: Outcome) -> bool:
    """Whether the reference says the same of two programs, as far as it was asked.

    It was not if the worker died: then it had let the program pass.
    """
    if outcome.reference is None or start.reference is None:
        return True
    one, other = outcome.reference, start.reference
    return (one.unknown, normalise(one.refused)) == (other.unknown, normalise(other.refused))


def was_refused(outcome: Outcome) -> bool:
    """Whether the reference kept the case from running."""
    return (
        outcome.verdict is Verdict.HARNESS_ERROR
        and outcome.stage == "oracle"
        and outcome.reference is not None
    )


def search(case: Case, outcome: Outcome, defaults: Defaults) -> Search:
    """Go from ``case`` down to where no step keeps its failure."""
    tried = {case.identifier}
    before = None
    while before is not case:
        before = case
        for step in STEPS:
            while True:
                candidates = _Candidates(step(case, _known(outcome, defaults)), tried, defaults)
                hit = yield candidates.below(measure(case, defaults))
                tried |= candidates.asked(hit)
                if hit is None:
                    break
                assert isinstance(hit.case, Case)
                case, outcome = hit.case, hit.outcome


def search_expression(case: Member) -> Search:
    """Go from ``case`` down to where nothing simpler keeps its failure."""
    tried = {case.identifier}
    while True:
        candidates = [one for one in case.smaller if one.identifier not in tried]
        hit = yield iter(candidates)
        if hit is None:
            return
        assert isinstance(hit.case, Member)
        tried |= {one.identifier for one in candidates[: hit.number + 1]}
        case = hit.case


@dataclass(slots=True)
class _Candidates:
    """Those candidates of a step that are simpler, and were not tried; what was asked for."""

    made: Iterator[Case]
    tried: set[str]
    defaults: Defaults
    given: list[str] = field(default_factory=list)

    def below(self, bound: Measure) -> Iterator[Case]:
        for case in self.made:
            identifier = case.identifier
            if identifier in self.tried or identifier in self.given:
                continue
            if measure(case, self.defaults) < bound:
                self.given.append(identifier)
                yield case

    def asked(self, hit: Hit | None) -> set[str]:
        """Those that came of nothing, and the one that did: what was looked up ahead is not."""
        return set(self.given if hit is None else self.given[: hit.number + 1])


def _known(outcome: Outcome, defaults: Defaults) -> Known:
    values = outcome.reference.values if outcome.reference is not None else {}
    return Known(defaults, values, outcome.stage in RUNNING)
