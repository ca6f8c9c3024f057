"""Section ``together``: whether cases linked at once get the verdicts that they get alone.

Each drawn case runs in a worker's group, as in a campaign, and again in a group of its own. What
came of it is compared whole, but for the message of a wrong value: that tells elements, and what
memory held before may be in them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import msgspec

from generators.families import families
from generators.program import Case
from harness.drawing import stream
from harness.jobs import Job, Limits
from harness.outcome import Outcome, Verdict
from harness.pipelines import PIPELINES
from harness.pool import Pool
from tests.quality.section import Figures, Section, Show

FULL_SIZE = 4_000
SEED = 8
_CHUNK = 200
"""Cases that run together, then alone: the machine is as busy for the ones as for the others."""


def measure(share: float, workers: int, show: Show) -> Figures:
    """Compare ``share`` of the full size, half of the cases with the fixes on."""
    cases = list(islice(_drawn(), max(2, round(FULL_SIZE * share))))
    grouped = Limits()
    alone = replace(grouped, together=1)
    unlike: list[dict[str, str]] = []
    uncertain: list[dict[str, str]] = []
    retried = 0
    verdicts: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    with Pool(workers, grouped) as groups, Pool(workers, alone) as singles:
        for first in range(0, len(cases), _CHUNK):
            some = cases[first : first + _CHUNK]
            together, apart = _outcomes(groups, some), _outcomes(singles, some)
            retried += sum(bool(one.retried) for one in together)
            verdicts.update(one.verdict.value for one in apart)
            for name, outcomes in (("together", together), ("alone", apart)):
                seconds[name] += sum(
                    one.seconds.get("tvm", 0.0)
                    for one, other in zip(outcomes, apart, strict=True)
                    if other.verdict is Verdict.PASS
                )
            differing = [
                (case, one, other)
                for case, one, other in zip(some, together, apart, strict=True)
                if told(one) != told(other)
            ]
            again = _outcomes(singles, [case for case, _, _ in differing])
            for (case, one, other), third in zip(differing, again, strict=True):
                steady = told(third) == told(other)
                (unlike if steady else uncertain).append(_shown(case, one, other))
            show(f"{first + len(some)} of {len(cases)} cases", (first + len(some)) / len(cases))
    return {
        "seed": SEED,
        "cases": len(cases),
        "verdicts": dict(verdicts),
        "unlike": unlike,
        "uncertain": uncertain,
        "retried": retried,
        "seconds": dict(seconds),
    }


def _drawn() -> Iterator[Case]:
    for number, case in enumerate(stream(families(tuple(PIPELINES)), SEED)):
        # Whole groups have the fixes on or off, in turn.
        yield msgspec.structs.replace(case, fixes=bool(number // Limits().together % 2))


def _outcomes(pool: Pool, cases: Sequence[Case]) -> list[Outcome]:
    pool.submit(*(Job(case, at) for at, case in enumerate(cases)))
    found: dict[object, Outcome] = {job.tag: outcome for job, outcome in pool.drain()}
    return [found[at] for at in range(len(cases))]


def told(outcome: Outcome) -> tuple[object, ...]:
    """What is to be the same of a case however it ran."""
    where = (outcome.verdict, outcome.stage, outcome.operator, outcome.oracles)
    if outcome.verdict is Verdict.WRONG_VALUE:
        return where
    return (*where, outcome.message, outcome.checks)


def _shown(case: Case, together: Outcome, alone: Outcome) -> dict[str, str]:
    return {
        "case": case.identifier,
        "family": case.family,
        "together": f"{together.verdict.value} at {together.stage}: {together.message[:200]}",
        "alone": f"{alone.verdict.value} at {alone.stage}: {alone.message[:200]}",
    }


def markdown(figures: Mapping[str, Any]) -> str:
    """The counts, what it saves, and each case whose outcomes differ."""
    counted = ", ".join(f"{name} {count}" for name, count in sorted(figures["verdicts"].items()))
    seconds = figures["seconds"]
    lines = [
        f"**{len(figures['unlike'])} of {figures['cases']}** cases (seed {figures['seed']}, every"
        " other group with the fixes on) have another verdict, stage, operator, message or check"
        " when their native code is generated and linked with that of others.",
        "",
        f"Alone: {counted}. {figures['retried']} cases came again alone because something went"
        " wrong in what their group shared;"
        f" {len(figures['uncertain'])} end otherwise from run to run, alone as well.",
    ]
    if seconds.get("alone"):
        lines += [
            "",
            "CPU time inside TVM of the cases that pass, together by alone: "
            f"{seconds['together'] / seconds['alone']:.2f}.",
        ]
    if figures["unlike"] or figures["uncertain"]:
        lines += ["", "| case | family | together | alone | alone again |", "|---|---|---|---|---|"]
        lines += [
            f"| `{one['case']}` | {one['family']} | {_cell(one['together'])} | "
            f"{_cell(one['alone'])} | {again} |"
            for again, some in (("the same", "unlike"), ("otherwise", "uncertain"))
            for one in figures[some]
        ]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def missed(figures: Mapping[str, Any]) -> list[str]:
    """Cases whose outcomes differ."""
    unlike = len(figures["unlike"])
    return [f"cases that end otherwise together: {unlike}, not 0"] if unlike else []


SECTION = Section("together", "Linked together, judged as if alone", measure, markdown, missed)
