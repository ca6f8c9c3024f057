"""Section ``onnx-planted``: how soon a campaign over ONNX models finds each bug of the importer."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.onnx.families import families
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.kinds import decode, of
from relaxcheck.harness.workers.pool import Pool
from tests.measure.quality.planted import everywhere, results
from tests.measure.quality.planted.bugs.onnx.catalogue import PLANTS, named
from tests.measure.quality.planted.conversion import Misconversion
from tests.measure.quality.planted.hunt import Hunted, clean_pool, controlled, hunt
from tests.measure.quality.planted.place import cases_of
from tests.measure.quality.planted.plant import PlantError
from tests.measure.quality.planted.section import spread_out
from tests.measure.quality.section import Figures, Section, Show

RESULTS = Path("runs/quality/onnx-planted.jsonl")
ZYGOTE = "tests.measure.quality.onnx.planting"
SEEDS = (1,)

MOST = 10_000
"""The target: every bug is found within so many cases of a campaign over all ONNX models."""

TOGETHER = 20
"""Plants in one process at most: to start one takes longer than most hunts do."""

_UNDER_WAY = 64
"""Cases that are drawn beyond those: a hunt ends with what is drawn last still under way."""

_STEPS = (250, 500, 1000, 2000, 5000, MOST)


def measure(share: float, workers: int, show: Show) -> Figures:
    """Hunt ``share`` of the plants in the cases of their operators' families.

    Hunts that an earlier measurement of the same sources made are not made again.
    """
    count = max(1, round(len(PLANTS) * min(1.0, share)))
    plants = [PLANTS[at * len(PLANTS) // count] for at in range(count)]
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    key = results.state()
    known = results.read(RESULTS, key, MOST)
    left = [p for p in plants if any((p.name, seed) not in known for seed in SEEDS)]
    if left:
        lots = [(",".join(plant.name for plant in lot), key) for lot in lots_of(left)]
        spread_out(_hunt, lots, workers, show)
    known = results.read(RESULTS, key, MOST)
    made = everywhere.figures(
        SEEDS, [(p.plant, [known[p.name, seed] for seed in SEEDS]) for p in plants]
    )
    return {**made, "operators": len({plant.family for plant in plants})}


def lots_of(plants: Sequence[Misconversion]) -> list[list[Misconversion]]:
    """``plants`` in lots for one process each: ``TOGETHER`` at most, one of an operator."""
    lots: list[list[Misconversion]] = []
    for plant in plants:
        for lot in lots:
            if len(lot) < TOGETHER and all(plant.operator != each.operator for each in lot):
                lot.append(plant)
                break
        else:
            lots.append([plant])
    return lots


def family_of(plant: Misconversion) -> Family:
    """The family of the models of one node of the operator of ``plant``."""
    (own,) = (each for each in families(tuple(PIPELINES)) if each.name == plant.family)
    return own


def _hunt(names: str, key: str) -> None:
    lot = [named(name) for name in names.split(",")]
    with Pool(1, zygote=ZYGOTE, arguments=(names,)) as pool:
        for plant in lot:
            for seed in SEEDS:
                family = family_of(plant)
                most = cases_of(family.name, MOST, seed) + _UNDER_WAY
                found = hunt(plant.plant, seed, pool, most, (family,), grace=0)
                _check_alone(plant, lot, found)
                results.append(RESULTS, key, MOST, controlled(found, clean_pool()))


def _check_alone(plant: Misconversion, lot: Sequence[Misconversion], found: Hunted) -> None:
    """Check that no other plant of ``lot`` is in the case that was found.

    Raises:
        PlantError: one is.
    """
    if not found.is_found:
        return
    case = decode(bytes(found.case))
    others = {each.operator for each in lot} - {plant.operator}
    beside = others & set(of(case).operators(case))
    if beside:
        raise PlantError(f"{plant.name}: its case has {', '.join(sorted(beside))}, planted too")


def missed(figures: Figures) -> list[str]:
    """Bugs that are found too late, never, by another verdict, or without being there."""
    return [
        reason
        for hunted in figures["hunts"]
        for reason in everywhere.faulty(hunted, hunted["name"], "all models", MOST)
    ]


def markdown(figures: Figures) -> str:
    """The distribution, and a row for each plant, the latest first."""
    hunts = sorted(figures["hunts"], key=lambda hunted: -_end(hunted))
    shares = (f"{_share(hunts, step):.0%}" for step in _STEPS)
    lines = [
        f"{len(hunts)} planted bugs of {figures['operators']} operators of the importer, fixes on."
        " Each is hunted in the models of one node of its operator; the last number is that of the"
        " first failure among all cases of a campaign over every family of models.",
        "",
        "| found within | " + " | ".join(map(str, _STEPS)) + " |",
        "|---|" + "---:|" * len(_STEPS),
        "| share of bugs | " + " | ".join(shares) + " |",
        "",
        "| plant | verdict | case of its family | case of all |",
        "|---|---|---:|---:|",
    ]
    return "\n".join([*lines, *map(_row, hunts)])


def _end(hunted: dict[str, Any]) -> float:
    return float("inf") if hunted["everywhere"] is None else hunted["everywhere"]


def _share(hunts: Sequence[dict[str, Any]], most: int) -> float:
    return sum(_end(hunted) <= most for hunted in hunts) / len(hunts)


def _row(hunted: dict[str, Any]) -> str:
    cells = (
        f"`{hunted['name']}`: {hunted['description']}",
        hunted["verdict"] or "**not found**",
        str(hunted["cases"] or "–"),
        str(hunted["everywhere"] or "–"),
    )
    return "| " + " | ".join(cells) + " |"


SECTION = Section(
    name="onnx-planted",
    title="Planted bugs of ONNX's importer",
    measure=measure,
    markdown=markdown,
    missed=missed,
)
