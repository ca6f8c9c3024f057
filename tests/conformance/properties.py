"""Properties whose examples run together: TVM compiles several programs at once far cheaper."""

import random
from collections.abc import Callable, Iterable

import hypothesis
from hypothesis import Phase
from hypothesis import strategies as st

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.programs.conformance import Conformance, DoesNotConform


def failure_of(
    strategy: st.SearchStrategy[AnyCase], conformance: Conformance, prepare: Callable[..., AnyCase]
) -> str | None:
    """The failure of the smallest case of ``strategy`` that does not conform, in one line, or None.

    Draws as many cases as the Hypothesis profile says, passes each through ``prepare`` and runs all
    of them together. If one fails, draws the same again, so that Hypothesis reduces it.
    """
    seed = 0 if hypothesis.settings().derandomize else random.getrandbits(32)
    drawn: dict[str, AnyCase] = {}

    def collect(case: AnyCase) -> None:
        prepared = prepare(case)
        drawn[prepared.identifier] = prepared

    _each(strategy, seed, (Phase.generate,), collect)
    assert drawn
    failures = _judged(conformance, drawn.values())
    first = next(filter(None, failures.values()), None)
    if first is None:
        return None

    def check(case: AnyCase) -> None:
        prepared = prepare(case)
        if prepared.identifier not in drawn:
            drawn[prepared.identifier] = prepared
            failures.update(_judged(conformance, [prepared]))
        if (failure := failures[prepared.identifier]) is not None:
            # In one place: Hypothesis takes failures of two places for two bugs.
            raise DoesNotConform(failure)

    try:
        _each(strategy, seed, (Phase.generate, Phase.shrink), check)
    except DoesNotConform as failure:
        return str(failure)
    return first


def _judged(conformance: Conformance, cases: Iterable[AnyCase]) -> dict[str, str | None]:
    return {case.identifier: failure for case, failure in conformance.judged(cases)}


def _each(
    strategy: st.SearchStrategy[AnyCase],
    seed: int,
    phases: tuple[Phase, ...],
    act: Callable[[AnyCase], None],
) -> None:
    """Call ``act`` with examples of ``strategy``: the same ones for the same ``seed``."""

    @hypothesis.seed(seed)
    @hypothesis.settings(phases=phases, database=None)
    @hypothesis.given(strategy)
    def run(case: AnyCase) -> None:
        act(case)

    run()
