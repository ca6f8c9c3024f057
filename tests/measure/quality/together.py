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

from relaxcheck.generators.core.program import Case
from relaxcheck.generators.families import every
from relaxcheck.harness.campaign.drawing import stream
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.pool import Pool
from tests.measure.quality.section import Figures, Section, Show

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
            retried += sum(bool(outcome.retried) for outcome in together)
            verdicts.update(outcome.verdict.value for outcome in apart)
            for name, outcomes in (("together", together), ("alone", apart)):
                seconds[name] += sum(
                    outcome.seconds.get("tvm", 0.0)
                    for outcome, other in zip(outcomes, apart, strict=True)
                    if other.verdict is Verdict.PASS
                )
            differing = [
                (case, joined, other)
                for case, joined, other in zip(some, together, apart, strict=True)
                if independent(joined) != independent(other)
            ]
            again = _outcomes(singles, [case for case, _, _ in differing])
            for (case, joined, other), third in zip(differing, again, strict=True):
                steady = independent(third) == independent(other)
                (unlike if steady else uncertain).append(_shown(case, joined, other))
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
    for number, case in enumerate(stream(every(tuple(PIPELINES)), SEED)):
        # Whole groups have the fixes on or off, in turn.
        yield msgspec.structs.replace(case, fixes=bool(number // Limits().together % 2))


def _outcomes(pool: Pool, cases: Sequence[Case]) -> list[Outcome]:
    pool.submit(*(Job(case, at) for at, case in enumerate(cases)))
    outcomes: dict[object, Outcome] = {job.tag: outcome for job, outcome in pool.drain()}
    return [outcomes[at] for at in range(len(cases))]


def independent(outcome: Outcome) -> tuple[object, ...]:
    """The parts of an outcome that must not depend on how its case ran."""
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
            f"| `{row['case']}` | {row['family']} | {_cell(row['together'])} | "
            f"{_cell(row['alone'])} | {again} |"
            for again, some in (("the same", "unlike"), ("otherwise", "uncertain"))
            for row in figures[some]
        ]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def missed(figures: Mapping[str, Any]) -> list[str]:
    """Cases whose outcomes differ."""
    unlike = len(figures["unlike"])
    return [f"cases that end otherwise together: {unlike}, not 0"] if unlike else []


SECTION = Section("together", "Linked together, judged as if alone", measure, markdown, missed)
