"""Section ``reduction``: how simple the cases are that ``relaxcheck reduce`` makes of planted bugs.

The first case of a campaign that meets a planted bug is reduced on a worker that has it, as
anybody would reduce it.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import as_completed
from statistics import median
from typing import Any

import msgspec

from relaxcheck.generators.calls import telling
from relaxcheck.generators.core.case import encode
from relaxcheck.generators.core.program import Case, decode
from relaxcheck.generators.families import every
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.triage.reduction.running import ReductionResult, reduced
from relaxcheck.harness.triage.reduction.trying import Budget, InWorkers
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool
from tests.measure.quality.planted.catalogue import PLANTS, named
from tests.measure.quality.planted.hunt import hunt, pool_with
from tests.measure.quality.planted.section import some_plants
from tests.measure.quality.section import Figures, Section, Show
from tests.measure.quality.spreading import processes

SEED = 1
TRIES, SECONDS = 500, 180.0
MOST_ATTRIBUTES, MOST_SIZE = 2, 3


class Simplest(msgspec.Struct, frozen=True):
    """Reduce the first failure of ``plant``; None where there was none.

    ``attributes`` are those away from TVM's default, ``largest`` is the largest size of an input at
    any binding, of the reduced case; ``drawn_attributes`` and ``drawn_largest`` of the case as it
    was drawn. ``minimal``: no single step is left that keeps the failure; ``again``: it came again
    in a new process. ``why`` says what ended it before that; ``case`` is the reduced case as JSON.
    """

    plant: str
    drawn_attributes: int | None = None
    drawn_largest: int | None = None
    attributes: int | None = None
    largest: int | None = None
    nodes: int | None = None
    tried: int = 0
    minimal: bool = False
    again: bool = False
    why: str = ""
    case: str = ""


def measure(share: float, workers: int, show: Show) -> Figures:
    """Reduce the first failure of ``share`` of the plants."""
    plants = [plant.name for plant in some_plants(PLANTS, share)]
    simplest_of: dict[str, Simplest] = {}
    with processes(workers, start="spawn") as submit:
        futures = {submit(simplest, name): name for name in plants}
        for done, future in enumerate(as_completed(futures), 1):
            simplest_of[futures[future]] = future.result()
            show(futures[future], done / len(futures))
    each = [msgspec.to_builtins(simplest_of[name]) for name in plants]
    return {"share": share, "seed": SEED, "tries": TRIES, "seconds": SECONDS, "plants": each}


def simplest(name: str) -> Simplest:
    """Hunt the plant ``name``, and reduce the first case that fails."""
    with pool_with(named(name)) as pool:
        # It is reduced here: what the campaign makes of it is not waited for.
        hunted = hunt(named(name), SEED, pool, grace=0)
        if not hunted.is_found:
            return Simplest(name)
        drawn = decode(bytes(hunted.case), name)
        ended = _reduced(drawn, pool)
    case = ended.reduction.case
    return Simplest(
        name,
        attributes_off(drawn),
        largest(drawn),
        attributes_off(case),
        largest(case),
        len(case.program.nodes),
        ended.reduction.tried,
        ended.reduction.minimal,
        bool(ended.stable),
        ended.why,
        encode(case).decode(),
    )


def _reduced(case: Case, pool: Pool) -> ReductionResult:
    pool.submit(Job(case, fresh=True))
    ((_, start),) = pool.drain()
    budget = Budget(TRIES, SECONDS, lambda: None)
    return reduced(case, start, InWorkers(pool), every(tuple(PIPELINES)), budget)


def attributes_off(case: Case) -> int:
    """The number of attributes, over all nodes, that are not at TVM's default."""
    return sum(len(telling(node)) for node in case.program.nodes)


def largest(case: Case) -> int:
    """The largest size of an input of ``case``, at any of its bindings."""
    sizes = (
        size
        for tensor in case.program.inputs
        for binding in case.bindings
        for size in case.shape(tensor.name, binding)
    )
    return max(sizes, default=0)


def _column(figures: Mapping[str, Any], name: str) -> list[int]:
    return [row[name] for row in figures["plants"] if row[name] is not None]


def _medians(figures: Mapping[str, Any]) -> tuple[float, float]:
    return median(_column(figures, "attributes")), median(_column(figures, "largest"))


def markdown(figures: Figures) -> str:
    """The medians, and every case that is above the target."""
    plants = figures["plants"]
    reached = [row for row in plants if row["attributes"] is not None]
    lines = [
        f"The first failure of each of {len(plants)} planted bugs (seed {figures['seed']}), reduced"
        f" with at most {figures['tries']} tries and {figures['seconds']:g} s.",
        "",
        "| | as drawn | reduced | target |",
        "|---|---:|---:|---:|",
        _row("attributes away from default, median", "attributes", reached, MOST_ATTRIBUTES),
        _row("largest size, median", "largest", reached, MOST_SIZE),
        "",
        f"{sum(row['minimal'] for row in reached)} of {len(reached)} reached a case of which no"
        f" single step keeps the failure, {sum(row['again'] for row in reached)} came again in"
        f" a new process; {sum(_simple(row) for row in reached)} have neither more than"
        f" {MOST_ATTRIBUTES} attributes away from default nor a size above {MOST_SIZE}.",
    ]
    others = [row for row in plants if row["attributes"] is None or not _simple(row)]
    if others:
        lines += ["", "| the others | attributes | largest size | nodes | ended by |"]
        lines += ["|---|---:|---:|---:|---|"]
        lines += [
            f"| {row['plant']} | {_or_dash(row['attributes'])} | {_or_dash(row['largest'])} |"
            f" {_or_dash(row['nodes'])} | {row['why'] or '1-minimal'} |"
            for row in others
        ]
    return "\n".join(lines)


def _row(label: str, name: str, reached: Sequence[Mapping[str, Any]], target: int) -> str:
    before = median(row[f"drawn_{name}"] for row in reached)
    return f"| {label} | {before:g} | {median(row[name] for row in reached):g} | <= {target} |"


def _simple(row: Mapping[str, Any]) -> bool:
    return bool(row["attributes"] <= MOST_ATTRIBUTES and row["largest"] <= MOST_SIZE)


def _or_dash(value: int | None) -> str:
    return "–" if value is None else str(value)


def missed(figures: Figures) -> list[str]:
    """The medians of attributes and sizes, and what did not come again."""
    lines = [
        f"{row['plant']}: no failure to reduce"
        for row in figures["plants"]
        if row["attributes"] is None
    ]
    if not _column(figures, "attributes"):
        return lines
    lines += [
        f"{row['plant']}: {problem}"
        for row in figures["plants"]
        if row["attributes"] is not None
        for holds, problem in (
            (row["minimal"], f"a simpler case may be left ({row['why']})"),
            (row["again"], "the reduced case did not come again"),
        )
        if not holds
    ]
    attributes, size = _medians(figures)
    if attributes > MOST_ATTRIBUTES:
        lines.append(f"the median reduced case has {attributes:g} attributes away from default")
    if size > MOST_SIZE:
        lines.append(f"the largest size of the median reduced case is {size:g}")
    return lines


SECTION = Section("reduction", "Size of reduced cases", measure, markdown, missed)
