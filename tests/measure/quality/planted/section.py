"""Section ``planted``: how many cases it takes to find each planted bug, and what is said of it."""

from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from pathlib import Path
from typing import Any

from tests.measure.quality.planted import results
from tests.measure.quality.planted.catalogue import PLANTS, named
from tests.measure.quality.planted.hunt import (
    CONTROL,
    MOST_CASES,
    Hunted,
    clean_pool,
    controlled,
    hunt,
    pool_with,
)
from tests.measure.quality.planted.plant import Plant
from tests.measure.quality.planted.table import figures, markdown, missed
from tests.measure.quality.section import Figures, Section, Show
from tests.measure.quality.spreading import processes

RESULTS = Path("runs/quality/planted.jsonl")
SEEDS = (1, 20, 300)


def measure(share: float, workers: int, show: Show) -> Figures:
    """Hunt every plant with each of ``SEEDS``; with one of them where ``share`` is a third.

    Of a smaller share, hunt as many plants as it leaves time for, with one seed. The control draws
    as many cases as a hunt at most does, at full size, and finds nothing. Hunts that an earlier
    measurement of the same sources made are not made again.
    """
    seeds = SEEDS[: max(1, round(len(SEEDS) * share))]
    plants = some_plants(PLANTS, len(SEEDS) * share)
    control_cases = max(1, round(MOST_CASES * min(1.0, share)))
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    key = results.state()
    tasks = []
    for name, most in (
        (CONTROL, control_cases),
        *((plant.name, MOST_CASES) for plant in plants),
    ):
        known = results.read(RESULTS, key, most)
        left = tuple(seed for seed in seeds if (name, seed) not in known)
        if left:
            tasks.append((name, left, most))
    spread_out(_hunt_all, [(*task, key) for task in tasks], workers, show)
    known = results.read(RESULTS, key, MOST_CASES)
    control = results.read(RESULTS, key, control_cases)
    return figures(
        share,
        seeds,
        [(plant, [known[plant.name, seed] for seed in seeds]) for plant in plants],
        [control[CONTROL, seed] for seed in seeds],
    )


def spread_out(
    function: Callable[..., None],
    tasks: Sequence[tuple[Any, ...]],
    workers: int,
    show: Show,
) -> None:
    """Call ``function`` with each of ``tasks``, whose first argument is shown, on ``workers``."""
    # Each process starts zygotes and draws cases; nothing of this one may be shared with it.
    with processes(workers, start="spawn") as submit:
        futures = {submit(function, *task): str(task[0]) for task in tasks}
        for done, future in enumerate(as_completed(futures), 1):
            future.result()
            show(futures[future], done / len(futures))


def some_plants(plants: Sequence[Plant], share: float) -> list[Plant]:
    """About ``share`` of ``plants``, and one at least, spread over all subjects."""
    count = max(1, round(len(plants) * min(1.0, share)))
    return [plants[at * len(plants) // count] for at in range(count)]


def _hunt_all(name: str, seeds: tuple[int, ...], most_cases: int, key: str) -> None:
    """Hunt one plant with each of ``seeds``, writing each result as soon as it is there."""
    if name == CONTROL:
        for seed in seeds:
            _keep(hunt(None, seed, clean_pool(), most_cases), most_cases, key)
        return
    plant = named(name)
    with pool_with(plant) as pool:
        for seed in seeds:
            hunted = hunt(plant, seed, pool, most_cases)
            _keep(controlled(hunted, clean_pool()), most_cases, key)


def _keep(hunted: Hunted, most_cases: int, key: str) -> None:
    results.append(RESULTS, key, most_cases, hunted)


SECTION = Section(
    name="planted",
    title="Planted bugs",
    measure=measure,
    markdown=markdown,
    missed=missed,
)
