"""A property that fails says so in one line, of the smallest case."""

from collections.abc import Iterator

import hypothesis
import msgspec
from hypothesis import strategies as st

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.core.program import Case, Input, Program
from relaxcheck.harness.programs.conformance import Conformance
from tests.conformance.properties import failure_of

PROGRAM = Program((Input("x", (1,), "float32"),), (), ("x",))
CASES = st.integers(0, 1000).map(lambda seed: Case("any", PROGRAM, seed=seed))


class FailingFrom(Conformance):
    """Cases conform whose seed is less than ``LIMIT``; ``runs`` are the seeds run each time."""

    LIMIT = 10

    def __init__(self) -> None:
        self.runs: list[list[int]] = []

    def judged(self, cases: object) -> Iterator[tuple[AnyCase, str | None]]:
        seeds: list[int] = []
        self.runs.append(seeds)
        for case in cases:  # type: ignore[attr-defined]
            seeds.append(case.seed)
            yield case, f"fails with {case.seed}" if case.seed >= self.LIMIT else None


def test_the_smallest_failure_is_reported() -> None:
    conformance = FailingFrom()
    assert failure_of(CASES, conformance, lambda case: case) == f"fails with {FailingFrom.LIMIT}"
    together, *alone = conformance.runs
    assert len(together) > hypothesis.settings().max_examples / 2
    # Reduction runs no case again that ran with the others.
    assert not {seed for seeds in alone for seed in seeds} & set(together)


def test_without_failure_all_cases_run_once_together() -> None:
    conformance = FailingFrom()
    prepared = failure_of(
        CASES, conformance, lambda case: msgspec.structs.replace(case, seed=case.seed % 10)
    )
    assert prepared is None
    assert len(conformance.runs) == 1
