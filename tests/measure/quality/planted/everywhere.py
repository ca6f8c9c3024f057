"""Section ``planted-everywhere``: how soon a campaign over everything finds each planted bug.

Nothing is reduced and nothing blamed, which is what takes section ``planted`` its time: a hunt ends
with the first failure.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from relaxcheck.harness.outcomes.errors import headline
from tests.measure.quality.planted import results
from tests.measure.quality.planted.catalogue import PLANTS, named
from tests.measure.quality.planted.hunt import (
    MOST_CASES,
    Hunted,
    clean_pool,
    controlled,
    hunt,
    pool_with,
)
from tests.measure.quality.planted.plant import Plant
from tests.measure.quality.planted.section import SEEDS, some_plants, spread_out
from tests.measure.quality.section import Figures, Section, Show

RESULTS = Path("runs/quality/planted-everywhere.jsonl")

MOST = 20_000
"""The target: every bug is found within so many cases of a campaign over everything."""

USUAL = 5_000
"""The target for most of them."""

LEAST_SHARE = 0.9
"""The share of the hunts that end within ``USUAL`` cases."""

_STEPS = (500, 1000, 2000, USUAL, 10_000, MOST)


def measure(share: float, workers: int, show: Show) -> Figures:
    """Hunt every plant with each seed; with the first seed where ``share`` is a third.

    Of a smaller share, hunt as many plants as it leaves time for, with one seed. Hunts that an
    earlier measurement of the same sources made are not made again.
    """
    seeds = SEEDS[: max(1, round(len(SEEDS) * share))]
    plants = some_plants(PLANTS, len(SEEDS) * share)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    key = results.state()
    known = results.read(RESULTS, key, MOST_CASES)
    tasks = []
    for plant in plants:
        left = tuple(seed for seed in seeds if (plant.name, seed) not in known)
        if left:
            tasks.append((plant.name, left, key))
    spread_out(_hunt, tasks, workers, show)
    known = results.read(RESULTS, key, MOST_CASES)
    return figures(
        seeds, [(plant, [known[plant.name, seed] for seed in seeds]) for plant in plants]
    )


def _hunt(name: str, seeds: tuple[int, ...], key: str) -> None:
    plant = named(name)
    with pool_with(plant) as pool:
        for seed in seeds:
            hunted = controlled(hunt(plant, seed, pool, grace=0), clean_pool())
            results.append(RESULTS, key, MOST_CASES, hunted)


def figures(seeds: Sequence[int], hunts: Sequence[tuple[Plant, Sequence[Hunted]]]) -> Figures:
    """The measured figures, as JSON: one row a plant and seed."""
    return {
        "seeds": list(seeds),
        "hunts": [
            {
                "name": plant.name,
                "description": plant.description,
                "verdicts": [str(verdict) for verdict in plant.verdicts],
                "seed": hunted.seed,
                "drawn": hunted.drawn,
                "cases": hunted.cases,
                "everywhere": hunted.everywhere,
                "verdict": None if hunted.verdict is None else str(hunted.verdict),
                "message": headline(hunted.message),
                "fails_without": any(verdict.is_failure for verdict in hunted.control),
            }
            for plant, of_plant in hunts
            for hunted in of_plant
        ],
    }


def missed(figures: Figures) -> list[str]:
    """Bugs that are found too late, never, by another verdict, or without being there."""
    lost = []
    for hunted in figures["hunts"]:
        lost += faulty(hunted, f"{hunted['name']}, seed {hunted['seed']}", "everything", MOST)
    soon = _share(figures, USUAL)
    if soon < LEAST_SHARE:
        lost.append(f"{soon:.1%} within {USUAL} cases of everything, less than {LEAST_SHARE:.0%}")
    return lost


def faulty(hunted: Mapping[str, Any], which: str, among: str, most: int) -> list[str]:
    """The objections to ``hunted``: found after ``most`` cases of ``among``, or in no good way."""
    if hunted["cases"] is None:
        return [f"{which}: not found in {hunted['drawn']} cases of its families"]
    lost = []
    if hunted["everywhere"] > most:
        lost.append(f"{which}: only case {hunted['everywhere']} of a campaign over {among}")
    if hunted["verdict"] not in hunted["verdicts"]:
        lost.append(f"{which}: {hunted['verdict']}, not {' or '.join(hunted['verdicts'])}")
    if hunted["fails_without"]:
        lost.append(f"{which}: its case fails without it too")
    return lost


def _share(figures: Figures, most: int) -> float:
    """The share of the hunts that end within ``most`` cases of a campaign over everything."""
    ends = [_latest(hunted) for hunted in figures["hunts"]]
    return sum(end <= most for end in ends) / len(ends)


def markdown(figures: Figures) -> str:
    """The distribution, and a row for each plant, the latest first."""
    names = list(dict.fromkeys(hunted["name"] for hunted in figures["hunts"]))
    seeds = ", ".join(map(str, figures["seeds"]))
    lines = [
        f"{len(names)} planted bugs, seeds {seeds}, fixes on. Each is hunted in the cases that a"
        " campaign over all families draws of its operators' families; the number is that of the"
        " first failure among all cases of that campaign.",
        "",
        "| found within | " + " | ".join(map(str, _STEPS)) + " |",
        "|---|" + "---:|" * len(_STEPS),
        "| share of hunts | "
        + " | ".join(f"{_share(figures, step):.1%}" for step in _STEPS)
        + " |",
        "",
        "| plant | verdict | case |",
        "|---|---|---|",
    ]
    rows = [[hunted for hunted in figures["hunts"] if hunted["name"] == name] for name in names]
    rows.sort(key=lambda hunts: -max(_latest(hunted) for hunted in hunts))
    return "\n".join([*lines, *map(_row, rows)])


def _latest(hunted: dict[str, Any]) -> float:
    return float("inf") if hunted["everywhere"] is None else hunted["everywhere"]


def _row(hunts: Sequence[dict[str, Any]]) -> str:
    verdicts = ", ".join(dict.fromkeys(hunted["verdict"] or "**not found**" for hunted in hunts))
    cases = ", ".join(str(hunted["everywhere"] or "–") for hunted in hunts)
    return f"| `{hunts[0]['name']}`: {hunts[0]['description']} | {verdicts} | {cases} |"


SECTION = Section(
    name="planted-everywhere",
    title="Planted bugs in a campaign over everything",
    measure=measure,
    markdown=markdown,
    missed=missed,
)
