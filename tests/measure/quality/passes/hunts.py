"""Section ``passes-planted``: programs until a planted bug of a pass is found, and the pass named.

Each is hunted in its pass's own family, in orders of passes and in graphs. The failure is reduced
and bisected as ``relaxcheck bisect`` does it.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from relaxcheck.harness.kinds import decode, of
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.triage.bisection.running import bisected
from relaxcheck.harness.workers.pool import Pool
from tests.measure.quality.passes import plants as damages
from tests.measure.quality.passes.families import CAMPAIGN, families_for
from tests.measure.quality.passes.plants import pass_of
from tests.measure.quality.planted import results
from tests.measure.quality.planted.bugs import passes as rewrites
from tests.measure.quality.planted.everywhere import faulty
from tests.measure.quality.planted.hunt import Hunted, clean_pool, controlled, hunt, pool_with
from tests.measure.quality.planted.place import place
from tests.measure.quality.planted.plant import Plant
from tests.measure.quality.planted.section import SEEDS, some_plants, spread_out
from tests.measure.quality.section import Figures, Section, Show

RESULTS = Path("runs/quality/passes-planted.jsonl")

MOST = 20_000
"""The target: every bug is found within so many programs of a campaign over passes and graphs."""

MOST_CASES = 1_000
"""Programs of a hunt at most: more than there are of its families among ``MOST``."""

NAMED = 0.95
"""The target: the least share of the bugs found whose pass bisection names."""

PLANTS = (*damages.PLANTS, *rewrites.PLANTS)
"""Three in each of ten passes, and three in each of eight passes over operators."""

NODES = 4
"""The target: half of the reduced programs have so many nodes at most."""

_STEPS = (500, 1000, 2000, 5000, 10_000, MOST)


def measure(share: float, workers: int, show: Show) -> Figures:
    """Hunt every plant with each of ``SEEDS``; with one of them where ``share`` is a third.

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
    plant = next(plant for plant in PLANTS if plant.name == name)
    with pool_with(plant) as pool:
        for seed in seeds:
            results.append(RESULTS, key, MOST_CASES, hunted(plant, seed, pool))


def hunted(plant: Plant, seed: int, pool: Pool, most_cases: int = MOST_CASES) -> Hunted:
    """The hunt for ``plant`` on ``pool``, which has it, with the pass that bisection names."""
    result = hunt(
        plant,
        seed,
        pool,
        most_cases,
        families_for(plant.operators[0]),
        placed=partial(place, campaign=CAMPAIGN),
    )
    if not result.is_found:
        return result
    reduced = result.case if bytes(result.reduced) == b"null" else result.reduced
    case = decode(bytes(reduced), "reduced")
    named = bisected(pool, case)
    result = msgspec.structs.replace(result, culprit=named.culprit, nodes=of(case).size(case))
    return controlled(result, clean_pool())


def figures(seeds: Sequence[int], hunts: Sequence[tuple[Plant, Sequence[Hunted]]]) -> Figures:
    """The measured figures, as JSON: one row a plant and seed."""
    return {
        "seeds": list(seeds),
        "hunts": [
            {
                "name": plant.name,
                "pass": pass_of(plant),
                "description": plant.description,
                "verdicts": [str(verdict) for verdict in plant.verdicts],
                "seed": found.seed,
                "drawn": found.drawn,
                "cases": found.cases,
                "everywhere": found.everywhere,
                "verdict": None if found.verdict is None else str(found.verdict),
                "message": headline(found.message),
                "culprit": found.culprit,
                "nodes": found.nodes,
                "fails_without": any(verdict.is_failure for verdict in found.control),
            }
            for plant, of_plant in hunts
            for found in of_plant
        ],
    }


def missed(figures: Figures) -> list[str]:
    """Bugs found too late, never or by another verdict; passes that are not named; large cases."""
    lost = []
    for row in figures["hunts"]:
        lost += faulty(row, f"{row['name']}, seed {row['seed']}", "passes and graphs", MOST)
    found = _found(figures)
    named = _named(found)
    if found and named < NAMED * len(found):
        lost.append(f"the pass is named right for {named} of {len(found)}, less than {NAMED:.0%}")
    if found and _nodes(found) > NODES:
        lost.append(f"the median of the reduced programs has {_nodes(found):g} nodes, over {NODES}")
    return lost


def _found(figures: Figures) -> list[dict[str, Any]]:
    return [row for row in figures["hunts"] if row["cases"] is not None]


def _named(found: Sequence[dict[str, Any]]) -> int:
    return sum(row["culprit"] == row["pass"] for row in found)


def _nodes(found: Sequence[dict[str, Any]]) -> float:
    return median(row["nodes"] for row in found)


def markdown(figures: Figures) -> str:
    """The distribution, and a row for each plant, by pass."""
    hunts, found = figures["hunts"], _found(figures)
    names = list(dict.fromkeys(row["name"] for row in hunts))
    passes = {row["pass"] for row in hunts}
    seeds = ", ".join(map(str, figures["seeds"]))
    within = [sum(row["everywhere"] <= step for row in found) / len(hunts) for step in _STEPS]
    nodes = f"; the median of the reduced programs has {_nodes(found):g} nodes" if found else ""
    lines = [
        f"{len(names)} planted bugs in {len(passes)} passes, seeds {seeds}, fixes on. Each is"
        " hunted in the programs that a campaign over all passes and graphs draws of the pass's"
        " family, of orders of passes and of graphs; the number is that of the first failure among"
        " all programs of that campaign. The failure is then reduced, and bisection names a pass.",
        "",
        f"**Found: {len(found)} of {len(hunts)}; the pass named right: {_named(found)}**{nodes}.",
        "",
        "| found within | " + " | ".join(map(str, _STEPS)) + " |",
        "|---|" + "---:|" * len(_STEPS),
        "| share of hunts | " + " | ".join(f"{share:.1%}" for share in within) + " |",
        "",
        "| pass | plant | verdict | program | nodes | named |",
        "|---|---|---|---|---|---|",
    ]
    rows = [[row for row in hunts if row["name"] == name] for name in names]
    return "\n".join([*lines, *map(_row, rows)])


def _row(rows: Sequence[dict[str, Any]]) -> str:
    first = rows[0]
    verdicts = ", ".join(dict.fromkeys(row["verdict"] or "**not found**" for row in rows))
    places, nodes = (
        ", ".join("–" if row[key] is None else str(row[key]) for row in rows)
        for key in ("everywhere", "nodes")
    )
    named = ", ".join(dict.fromkeys(map(_culprit, rows)))
    plant = f"`{first['name']}`: {first['description']}"
    return f"| {first['pass']} | {plant} | {verdicts} | {places} | {nodes} | {named} |"


def _culprit(row: dict[str, Any]) -> str:
    if row["cases"] is None:
        return "–"
    right = row["culprit"] == row["pass"]
    return "yes" if right else f"**{row['culprit'] or 'no pass'}**"


SECTION = Section(
    name="passes-planted",
    title="Planted bugs in passes",
    measure=measure,
    markdown=markdown,
    missed=missed,
)
