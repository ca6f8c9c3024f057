"""Section ``torch-planted``: how soon a campaign over PyTorch programs finds each planted bug."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import msgspec

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.case import AnyCase, encode, with_fixes
from relaxcheck.generators.torch.families import families
from relaxcheck.generators.torch.running import PREFIX
from relaxcheck.harness.campaign.drawing import keep_hypothesis_in, stream
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool
from tests.measure.quality.planted import everywhere, results
from tests.measure.quality.planted.bugs.torch.catalogue import PLANTS, named
from tests.measure.quality.planted.hunt import Hunted, clean_pool
from tests.measure.quality.planted.misreading import Planted
from tests.measure.quality.planted.place import cases_of, place
from tests.measure.quality.planted.section import spread_out
from tests.measure.quality.section import Figures, Section, Show

RESULTS = Path("runs/quality/torch-planted.jsonl")
ZYGOTE = "tests.measure.quality.torch.planting"
SEEDS = (2026,)

MOST = 5_000
"""The target: every bug is found within so many cases of a campaign over all PyTorch programs."""

GRAPHS = ("graph", "layers")
"""The families of programs of several nodes that every plant is hunted in."""

LOT = 16
"""Cases that run before the first failure among them ends a hunt."""

_STEPS = (250, 500, 1000, 2000, MOST)


def measure(share: float, workers: int, show: Show) -> Figures:
    """Hunt ``share`` of the plants in the families that they concern, and in those of graphs.

    Hunts that an earlier measurement of the same sources made are not made again.
    """
    count = max(1, round(len(PLANTS) * min(1.0, share)))
    plants = [PLANTS[at * len(PLANTS) // count] for at in range(count)]
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    key = results.state()
    known = results.read(RESULTS, key, MOST)
    left = [p.name for p in plants if any((p.name, seed) not in known for seed in SEEDS)]
    lots = [(",".join(left[at::workers]), key) for at in range(workers) if left[at::workers]]
    if lots:
        spread_out(_hunt, lots, workers, show)
    known = results.read(RESULTS, key, MOST)
    return everywhere.figures(
        SEEDS, [(p.plant, [known[p.name, seed] for seed in SEEDS]) for p in plants]
    )


def families_of(plant: Planted) -> tuple[Family, ...]:
    """The families that ``plant`` is hunted in, in the order of a campaign."""
    wanted = {f"{PREFIX}-{name}" for name in (*plant.families, *GRAPHS)}
    return tuple(each for each in families(tuple(PIPELINES)) if each.name in wanted)


def drawn(families: Sequence[Family], seed: int, most: int) -> list[tuple[int, AnyCase]]:
    """The cases of ``families`` among the first ``most`` of a campaign over all, by their places.

    A family's cases are a stream of its own, whatever is drawn beside it.
    """
    found = [
        (place(family.name, number, seed), with_fixes(case, True))
        for family in families
        for number, case in enumerate(
            islice(stream((family,), seed), cases_of(family.name, most, seed)), 1
        )
    ]
    return sorted(found, key=lambda pair: pair[0])


def _hunt(names: str, key: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        keep_hypothesis_in(Path(folder) / "hypothesis")
        active = Path(folder) / "plant"
        active.write_text(names.split(",")[0], encoding="utf-8")
        clean = Clean({})
        with Pool(1, zygote=ZYGOTE, arguments=(str(active),)) as pool:
            for name in names.split(","):
                active.write_text(name, encoding="utf-8")
                plant = named(name)
                for seed in SEEDS:
                    cases = drawn(families_of(plant), seed, MOST)
                    results.append(RESULTS, key, MOST, hunted(plant, seed, cases, pool, clean))


@dataclass(frozen=True, slots=True)
class Clean:
    """The outcomes of cases without any plant, by identifier: many plants draw the same."""

    verdicts: dict[str, Verdict]

    def verdict(self, case: AnyCase) -> Verdict:
        """The verdict on ``case`` without a plant."""
        if case.identifier not in self.verdicts:
            ((_, outcome),) = _run(clean_pool(), [case])
            self.verdicts[case.identifier] = outcome.verdict
        return self.verdicts[case.identifier]


def hunted(
    plant: Planted, seed: int, cases: Sequence[tuple[int, AnyCase]], pool: Pool, clean: Clean
) -> Hunted:
    """The first of ``cases`` that fails on ``pool``, which has ``plant``, and not without it.

    Nothing is reduced: much fails in PyTorch's importer that no plant is in.
    """
    seconds = 0.0
    for begin in range(0, len(cases), LOT):
        lot = cases[begin : begin + LOT]
        outcomes = {case.identifier: outcome for case, outcome in _run(pool, [c for _, c in lot])}
        seconds += sum(sum(outcome.seconds.values()) for outcome in outcomes.values())
        for number, (at, case) in enumerate(lot, begin + 1):
            outcome = outcomes[case.identifier]
            if not outcome.verdict.is_failure or clean.verdict(case).is_failure:
                continue
            if not _fails_again(pool, case, outcome.verdict):
                # Some failures come and go with the place of a constant in memory.
                continue
            return Hunted(
                plant.name,
                seed,
                number,
                min(begin + LOT, len(cases)),
                seconds,
                outcome.verdict,
                outcome.stage,
                outcome.message[:400],
                case=msgspec.Raw(encode(case)),
                control=(clean.verdict(case),),
                everywhere=at,
            )
    return Hunted(plant.name, seed, None, len(cases), seconds)


def _fails_again(pool: Pool, case: AnyCase, verdict: Verdict) -> bool:
    """True if ``case`` has the same ``verdict`` alone, in a worker that has run nothing."""
    pool.submit(Job(case, fresh=True))
    return all(outcome.verdict is verdict for _, outcome in pool.drain())


def _run(pool: Pool, cases: Sequence[AnyCase]) -> list[tuple[AnyCase, Outcome]]:
    # The same case may be drawn twice.
    pool.submit(*(Job(case) for case in {case.identifier: case for case in cases}.values()))
    return [(job.case, outcome) for job, outcome in pool.drain()]


def missed(figures: Figures) -> list[str]:
    """Bugs that are found too late, never, by another verdict, or without being there."""
    return [
        reason
        for hunted in figures["hunts"]
        for reason in everywhere.faulty(hunted, hunted["name"], "all PyTorch programs", MOST)
    ]


def markdown(figures: Figures) -> str:
    """The distribution, and a row for each plant, the latest first."""
    hunts = sorted(figures["hunts"], key=lambda hunted: -_end(hunted["everywhere"]))
    ends = [_end(hunted["everywhere"]) for hunted in hunts]
    lines = [
        f"{len(hunts)} planted bugs of the importer of exported programs, fixes on. Each is hunted"
        " in the families of the functions that it concerns, and of graphs; the last number is that"
        " of the first failure among all cases of a campaign over every family of programs.",
        "",
        "| found within | " + " | ".join(map(str, _STEPS)) + " |",
        "|---|" + "---:|" * len(_STEPS),
        "| share of bugs | " + " | ".join(_share(ends, step) for step in _STEPS) + " |",
        "",
        "| plant | verdict | case of its families | case of all |",
        "|---|---|---:|---:|",
    ]
    for hunted in hunts:
        cells = (
            f"`{hunted['name']}`: {hunted['description']}",
            hunted["verdict"] or "**not found**",
            str(hunted["cases"] or "–"),
            str(hunted["everywhere"] or "–"),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _share(ends: Sequence[float], most: int) -> str:
    return f"{sum(end <= most for end in ends) / len(ends):.0%}"


def _end(everywhere: int | None) -> float:
    return float("inf") if everywhere is None else everywhere


SECTION = Section(
    name="torch-planted",
    title="Planted bugs of PyTorch's importer",
    measure=measure,
    markdown=markdown,
    missed=missed,
)
