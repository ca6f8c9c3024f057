"""Section ``steering``: whether steered drawing finds the planted bugs in fewer cases than uniform.

Both ways draw the families of a campaign with the same seeds, until a case fails. Steering has to
pay for itself: where it does not win it is to be taken out.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from tests.measure.quality.planted import results
from tests.measure.quality.planted.catalogue import PLANTS, named
from tests.measure.quality.planted.hunt import MOST_CASES, Hunted, hunt, pool_with
from tests.measure.quality.planted.section import RESULTS, some_plants, spread_out
from tests.measure.quality.section import Figures, Section, Show

SEEDS = (1, 20, 300)
WAYS = ("steered", "uniform")


def measure(share: float, workers: int, show: Show) -> Figures:
    """Hunt ``share`` of the plants both ways, with each of ``SEEDS``.

    Hunts that an earlier measurement of the same sources made are not made again; nor are the
    steered ones that section ``planted`` made.
    """
    plants = [plant.name for plant in some_plants(PLANTS, share)]
    key = results.state()
    tasks = []
    for way in WAYS:
        made = _known(way, key)
        for name in plants:
            left = tuple(seed for seed in SEEDS if (name, seed) not in made)
            if left:
                tasks.append((name, left, way, key))
    spread_out(_hunt_all, tasks, workers, show)
    known = {way: _known(way, key) for way in WAYS}
    return {
        "share": share,
        "seeds": list(SEEDS),
        "most_cases": MOST_CASES,
        "hunts": {
            way: {name: [known[way][name, seed].cases for seed in SEEDS] for name in plants}
            for way in WAYS
        },
    }


def _path(way: str) -> Path:
    return RESULTS.with_name(f"{way}.jsonl")


def _known(way: str, key: str) -> dict[tuple[str, int], Hunted]:
    known = results.read(_path(way), key, MOST_CASES)
    if way == "steered":
        known |= results.read(RESULTS, key, MOST_CASES)
    return known


def _hunt_all(name: str, seeds: tuple[int, ...], way: str, key: str) -> None:
    plant = named(name)
    path = _path(way)
    path.parent.mkdir(parents=True, exist_ok=True)
    with pool_with(plant) as pool:
        for seed in seeds:
            # Only where the first failure is counts here, not what is said of it.
            hunted = hunt(plant, seed, pool, uniform=way == "uniform", grace=0)
            results.append(path, key, MOST_CASES, hunted)


def _cases(figures: Mapping[str, Any], way: str, at: int) -> list[int | None]:
    """Cases to find each plant with seed number ``at``, None where it was not found."""
    return [counts[at] for counts in figures["hunts"][way].values()]


def _sum(figures: Mapping[str, Any], cases: Sequence[int | None]) -> int:
    """Cases drawn in all: a hunt that found nothing drew as many as it may."""
    most: int = figures["most_cases"]
    return sum(most if number is None else number for number in cases)


def _row(figures: Mapping[str, Any], seed: str, cases: Mapping[str, list[int | None]]) -> str:
    cells: list[str] = [seed]
    for way in WAYS:
        numbers = [number for number in cases[way] if number is not None]
        half = median(float("inf") if number is None else number for number in cases[way])
        last = (
            str(max(numbers)) if len(numbers) == len(cases[way]) else f"> {figures['most_cases']}"
        )
        missing = len(cases[way]) - len(numbers)
        cells += [f"{half:g}", f"{_sum(figures, cases[way]):,}", last, str(missing)]
    return "| " + " | ".join(cells) + " |"


def markdown(figures: Mapping[str, Any]) -> str:
    """Both ways beside each other, by seed and in all."""
    heads = (f"{way}: {column}" for way in WAYS for column in _COLUMNS)
    lines = [
        f"{len(figures['hunts'][WAYS[0]])} planted bugs, each hunted in at most"
        f" {figures['most_cases']} cases of all families.",
        "",
        "| seed | " + " | ".join(heads) + " |",
        "|---|" + "---:|" * (len(WAYS) * len(_COLUMNS)),
    ]
    lines += _rows(figures)
    return "\n".join(lines)


_COLUMNS = ("median cases", "cases in all", "cases to find all", "not found")


def _rows(figures: Mapping[str, Any]) -> Iterator[str]:
    every: dict[str, list[int | None]] = {way: [] for way in WAYS}
    for at, seed in enumerate(figures["seeds"]):
        of_seed = {way: _cases(figures, way, at) for way in WAYS}
        yield _row(figures, str(seed), of_seed)
        for way in WAYS:
            every[way] += of_seed[way]
    yield _row(figures, "all", every)


def missed(figures: Mapping[str, Any]) -> list[str]:
    """Steering has to draw fewer cases in all; judged at full size."""
    if figures["share"] < 1:
        return []
    steered, uniform = (
        sum(_sum(figures, hunted) for hunted in figures["hunts"][way].values()) for way in WAYS
    )
    if steered < uniform:
        return []
    return [f"steered hunts drew {steered:,} cases, uniform ones {uniform:,}: steering is to go"]


SECTION = Section("steering", "Steered against uniform drawing", measure, markdown, missed)
