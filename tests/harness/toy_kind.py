"""A kind of case that relaxcheck knows nothing of: lists of numbers to be added.

As ``python -m tests.harness.toy_kind DESCRIPTOR`` it is a zygote whose workers add them, wrongly if
there is a large number beside another one, and die of a 13.
"""

import os
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from hypothesis import strategies as st
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from relaxcheck.generators.core.axes import Axis, Family, Point
from relaxcheck.generators.core.case import AnyCase, CaseError, Data, Expectation, Valid, Value
from relaxcheck.harness.kind import Kind, Progress, Step, Tracing
from relaxcheck.harness.outcomes.attribution import Attribution
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.reports.rendering import About, Rendering

LARGE, DEADLY = 50, 13


class Numbers(Data, AnyCase, frozen=True, tag_field="format", tag=90):
    """Numbers to be added."""

    kind: ClassVar[str] = "numbers"

    family: str
    numbers: tuple[int, ...]
    seed: int = 0
    fixes: bool = False
    at: dict[str, Value] | UnsetType = UNSET

    @property
    def expect(self) -> Expectation:
        return Valid()

    @property
    def regime(self) -> str:
        return "normal"

    @property
    def opt_level(self) -> int:
        return 0


class Lists:
    """Lists of so many numbers up to a largest one."""

    name = "lists"
    axes = (Axis("count", (1, 2, 3, 4), 1), Axis("largest", (9, 12, 99), 9, weights={99: 2}))
    invalid: tuple[st.SearchStrategy[AnyCase], ...] = ()

    def build(self, point: Point, seed: int) -> Numbers:
        chance, largest = random.Random(seed), int(point["largest"] or 0)
        numbers = tuple(chance.randint(1, largest) for _ in range(int(point["count"] or 0)))
        return Numbers("lists", numbers, seed, at=dict(point))


class Additions(Kind[Numbers]):
    """No more than the engine needs."""

    name = Numbers.kind
    formats: ClassVar[Mapping[int, type[AnyCase]]] = {90: Numbers}

    def check(self, case: Numbers) -> None:
        if not case.numbers:
            raise CaseError("there are no numbers")

    def families(self, pipelines: Sequence[str]) -> tuple[Family, ...]:
        return (Lists(),)

    def execute(
        self,
        case: Numbers,
        progress: Progress,
        *,
        plain: bool = False,
        tracing: Tracing | None = None,
    ) -> Outcome:
        progress("add")
        if DEADLY in case.numbers:
            os.abort()
        if len(case.numbers) > 1 and max(case.numbers) > LARGE:
            message = f"{sum(case.numbers) - 1} instead of {sum(case.numbers)}"
            return Outcome(Verdict.WRONG_VALUE, "add", "sum", message)
        return Outcome(Verdict.PASS)

    def operators(self, case: Numbers) -> tuple[str, ...]:
        return ("sum",)

    def way(self, case: Numbers) -> str:
        return "from left to right"

    def size(self, case: Numbers) -> int:
        return len(case.numbers)

    @property
    def steps(self) -> Sequence[Step[Numbers]]:
        return (_fewer, _smaller)

    def measure(self, case: Numbers) -> tuple[float, ...]:
        return len(case.numbers), sum(case.numbers)


def _fewer(case: Numbers, outcome: Outcome) -> Iterator[Numbers]:
    for number in range(len(case.numbers)):
        left = (*case.numbers[:number], *case.numbers[number + 1 :])
        yield replace(case, numbers=left, at=UNSET)


def _smaller(case: Numbers, outcome: Outcome) -> Iterator[Numbers]:
    for number, value in enumerate(case.numbers):
        for less in sorted({1, value // 2, value - 1} - {0, value}):
            changed = (*case.numbers[:number], less, *case.numbers[number + 1 :])
            yield replace(case, numbers=changed, at=UNSET)


class AdditionRendering(Rendering[Numbers]):
    """Additions as text and as a line of Python."""

    def text(self, case: Numbers) -> str:
        return f"{' + '.join(map(str, case.numbers))}\n# from left to right"

    def extent(self, case: Numbers) -> str:
        return f"{len(case.numbers)} numbers"

    def title(
        self,
        case: Numbers,
        outcome: Outcome,
        attribution: Attribution | None,
        blame: Mapping[str, str],
        limits: Limits | None = None,
    ) -> str:
        return f"a sum of {len(case.numbers)} is {outcome.verdict}"

    def pasted(
        self,
        case: Numbers,
        outcome: Outcome,
        title: str,
        about: About,
        limits: Limits | None = None,
    ) -> tuple[str, str]:
        return f"print(sum({list(case.numbers)}))\n", f"{title}\n\n{outcome.message}\n"


KIND = Additions()
RENDERING = AdditionRendering()

if __name__ == "__main__":
    from relaxcheck.harness import kinds
    from relaxcheck.harness.workers import zygote

    kinds.PATHS = (__name__,)
    zygote.main()
