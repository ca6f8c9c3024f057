"""Section ``torch-planted``: how soon a campaign over PyTorch programs finds each planted bug."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.torch.families import families
from relaxcheck.generators.torch.running import PREFIX
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.workers.pool import Pool
from tests.measure.quality.planted import everywhere, results
from tests.measure.quality.planted.bugs.torch.catalogue import PLANTS, named
from tests.measure.quality.planted.hunt import clean_pool, controlled, hunt
from tests.measure.quality.planted.misreading import Planted
from tests.measure.quality.planted.place import cases_of
from tests.measure.quality.planted.section import spread_out
from tests.measure.quality.section import Figures, Section, Show

RESULTS = Path("runs/quality/torch-planted.jsonl")
ZYGOTE = "tests.measure.quality.torch.planting"
SEEDS = (1,)

MOST = 5_000
"""The target: every bug is found within so many cases of a campaign over all PyTorch programs."""

GRAPHS = ("graph", "layers", "attention")
"""The families of programs of several nodes that every plant is hunted in."""

_UNDER_WAY = 64
"""Cases that are drawn beyond those: a hunt ends with what is drawn last still under way."""

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


def _hunt(names: str, key: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        active = Path(folder) / "plant"
        active.write_text(names.split(",")[0], encoding="utf-8")
        with Pool(1, zygote=ZYGOTE, arguments=(str(active),)) as pool:
            for name in names.split(","):
                active.write_text(name, encoding="utf-8")
                _hunt_in(pool, named(name), key)


def _hunt_in(pool: Pool, plant: Planted, key: str) -> None:
    among = families_of(plant)
    most = sum(cases_of(family.name, MOST) for family in among) + _UNDER_WAY
    for seed in SEEDS:
        found = hunt(plant.plant, seed, pool, most, among, grace=0)
        results.append(RESULTS, key, MOST, controlled(found, clean_pool()))


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
