"""Section ``coverage``: what is drawn, and what steering gains over drawing by weights alone.

Cases are drawn, nothing is compiled. Coverage is that of pairs of cells (layouts of the same kind
are one cell) and, apart, that of pairs of single values, most of which are pairs of odd layouts:
n cases of a family cannot have more than n pairs of two axes, and the figures say how far that is
from all.
"""

from collections.abc import Iterator
from concurrent.futures import as_completed
from typing import Any

from tests.measure.quality.drawn import alone, discarded, measured
from tests.measure.quality.section import Figures, Section, Show
from tests.measure.quality.spreading import processes

FULL_SIZE = 10_000
CHECKPOINTS = (500, 2_000, 10_000)
SEEDS = (1, 2, 3)

LEAST_PAIRS = 0.99
MOST_DISCARDED = 0.05
MOST_MILLISECONDS = 5.0
_DRAWS = 350
"""Draws of a family, each way, of which the discarded ones are counted."""


def measure(share: float, workers: int, show: Show) -> Figures:
    """Draw ``share`` of the full size, steered and uniform, for each seed."""
    count = max(1, round(FULL_SIZE * share))
    checkpoints = sorted({count, *(each for each in CHECKPOINTS if each <= count)})
    ways = [(seed, uniform) for seed in SEEDS for uniform in (False, True)]
    with processes(workers, start="fork") as submit:
        jobs = [submit(measured, seed, count, checkpoints, uniform) for seed, uniform in ways]
        judged = [submit(alone, *way) for way in ways]
        draws = submit(discarded, _DRAWS, SEEDS[0])
        for number, job in enumerate(as_completed([*jobs, *judged]), 1):
            job.result()
            show(f"{number} of {2 * len(ways)} streams drawn", number / (2 * len(ways)))
        streams = [job.result() for job in jobs]
        families = [job.result() for job in judged]
        lost = draws.result()
    return {"cases": count, "streams": streams, "alone": families, "discarded": lost}


def missed(figures: Figures) -> list[str]:
    """Pairs of each family after its first cases; discarded draws; the price of a case."""
    lost = []
    for way in figures["alone"]:
        for family, reached in way["families"].items():
            if not way["uniform"] and reached["pairs_drawn"] < LEAST_PAIRS * reached["pairs"]:
                lost.append(
                    f"seed {way['seed']}, {family}: {_percent(reached, 'pairs')} of the pairs "
                    f"in {reached['cases']} cases (target: {LEAST_PAIRS:.0%})"
                )
    for stream in _streams(figures, uniform=False):
        if stream["milliseconds_per_case"] > MOST_MILLISECONDS:
            lost.append(
                f"seed {stream['seed']}: {stream['milliseconds_per_case']} ms to draw a case "
                f"(target: {MOST_MILLISECONDS})"
            )
    for way, counts in figures["discarded"].items():
        if counts["discarded"] > MOST_DISCARDED * counts["begun"]:
            lost.append(f"{way}: {counts['discarded']} of {counts['begun']} draws are discarded")
    return lost


def markdown(figures: Figures) -> str:
    """The figures as Markdown, without a heading."""
    return "\n".join(_lines(figures))


def _lines(figures: Figures) -> Iterator[str]:
    steered, uniform = _streams(figures, uniform=False), _streams(figures, uniform=True)
    first = steered[0]
    yield "Pairs of cells of two axes that were drawn, of all that a valid program can have; the"
    yield f"lowest of {len(steered)} seeds. Seven cases in eight are valid, and counted here."
    yield ""
    numbers = list(first["at"])
    titles = [f"{number} cases, {way}" for number in numbers for way in ("steered", "uniform")]
    yield "| family | axes' cells | pairs | " + " | ".join(titles) + " |"
    yield "|---|---:|---:|" + "---:|" * len(titles)
    for family in (*first["at"][numbers[0]], None):
        known = _sum(first["at"][numbers[0]], family)
        row = [
            f"{min(_share(_sum(each['at'][number], family), 'pairs') for each in streams):.2%}"
            for number in numbers
            for streams in (steered, uniform)
        ]
        cells = f"{known['cells']} | {known['pairs']}"
        yield f"| {family or 'all'} | {cells} | " + " | ".join(row) + " |"
    yield ""
    yield from _alone(figures["alone"])
    yield from _values(steered, uniform, numbers)
    yield from _lagging(first, numbers)
    yield from _draws(figures, first, uniform[0])
    yield from _sizes(first)


def _alone(ways: list[dict[str, Any]]) -> Iterator[str]:
    """The families that their first cases leave incomplete."""
    yield "The same after the first cases of each family itself, for the families whose pairs are"
    yield f"not all drawn then; the target is {LEAST_PAIRS:.0%} of each family, steered."
    yield ""
    yield "| family | cases of it | steered | uniform |"
    yield "|---|---:|---:|---:|"
    for family, first in ways[0]["families"].items():
        steered, uniform = (
            min(_share(way["families"][family], "pairs") for way in ways if way["uniform"] is each)
            for each in (False, True)
        )
        if steered < 1:
            yield f"| {family} | {first['cases']} | {steered:.2%} | {uniform:.2%} |"
    yield ""


def _lagging(stream: dict[str, Any], numbers: list[str]) -> Iterator[str]:
    yield f"Steered, seed {stream['seed']}: cells drawn of all, and the two axes that lag most:"
    yield ""
    yield "| family | " + " | ".join(f"{number} cases" for number in numbers) + " |"
    yield "|---|" + "---|" * len(numbers)
    for family in stream["at"][numbers[0]]:
        row = []
        for number in numbers:
            reached = stream["at"][number][family]
            axes, drawn, there = reached["pairs_worst"]
            cells = f"{reached['cells_drawn']} of {reached['cells']}"
            row.append(f"{cells}; {axes}: {drawn} of {there}")
        yield f"| {family} | " + " | ".join(row) + " |"
    yield ""


def _values(
    steered: list[dict[str, Any]], uniform: list[dict[str, Any]], numbers: list[str]
) -> Iterator[str]:
    yield "The same for pairs of single values. Layouts have up to 132, so few cases cannot have"
    yield "all their pairs: *at most* is what as many cases can have."
    yield ""
    yield (
        "| family | pairs of values | "
        + " | ".join(
            f"{number} cases, {way}"
            for number in numbers
            for way in ("steered", "uniform", "at most")
        )
        + " |"
    )
    yield "|---|---:|" + "---:|" * (3 * len(numbers))
    for family in (*steered[0]["at"][numbers[0]], None):
        row = []
        for number in numbers:
            for streams in (steered, uniform):
                sums = [_sum(each["at"][number], family) for each in streams]
                row.append(f"{min(_share(each, 'value_pairs') for each in sums):.2%}")
            most = _sum(steered[0]["at"][number], family)
            row.append(f"{most['value_pairs_at_most'] / most['value_pairs']:.2%}")
        known = _sum(steered[0]["at"][numbers[0]], family)
        yield f"| {family or 'all'} | {known['value_pairs']} | " + " | ".join(row) + " |"
    yield ""


def _draws(figures: Figures, steered: dict[str, Any], uniform: dict[str, Any]) -> Iterator[str]:
    yield "| drawing | draws | discarded | ms a case | twice the same, valid | … invalid |"
    yield "|---|---:|---:|---:|---:|---:|"
    for way, stream in (("steered", steered), ("uniform", uniform)):
        counts = figures["discarded"][way]
        twice = [
            f"{stream['duplicates'][kind]} of {stream['drawn'][kind]}"
            for kind in ("valid", "invalid")
        ]
        yield (
            f"| {way} | {counts['begun']} | {counts['discarded'] / counts['begun']:.2%} | "
            f"{stream['milliseconds_per_case']} | " + " | ".join(twice) + " |"
        )
    counts = figures["discarded"]["invalid"]
    yield (
        f"| invalid programs | {counts['begun']} | "
        f"{counts['discarded'] / counts['begun']:.2%} | | | |"
    )
    yield ""
    yield "| share of valid cases | steered | uniform |"
    yield "|---|---:|---:|"
    for axis, shares in steered["shares"].items():
        for value, share in shares.items():
            other = uniform["shares"][axis].get(value, 0)
            yield f"| {axis} {value} | {share:.1%} | {other:.1%} |"
    yield ""


def _sizes(stream: dict[str, Any]) -> Iterator[str]:
    yield "Size of a program, median and largest (inputs and work at its largest binding):"
    yield ""
    yield "| family | nodes | elements of inputs | multiply-adds |"
    yield "|---|---:|---:|---:|"
    for family, sizes in stream["sizes"].items():
        row = [
            f"{sizes[measure_name]['median']:,.0f} / {sizes[measure_name]['largest']:,}"
            for measure_name in ("nodes", "elements", "multiply_adds")
        ]
        yield f"| {family} | " + " | ".join(row) + " |"


def _streams(figures: Figures, *, uniform: bool) -> list[dict[str, Any]]:
    return [stream for stream in figures["streams"] if stream["uniform"] is uniform]


def _sum(reached: dict[str, Any], family: str | None) -> dict[str, int]:
    """The counts of ``family``, or of all together."""
    chosen = list(reached.values()) if family is None else [reached[family]]
    names = [name for name, value in chosen[0].items() if isinstance(value, int)]
    return {name: sum(stream[name] for stream in chosen) for name in names}


def _share(reached: dict[str, Any], name: str) -> float:
    share: float = reached[f"{name}_drawn"] / reached[name]
    return share


def _percent(reached: dict[str, Any], name: str) -> str:
    return f"{_share(reached, name):.2%}"


SECTION = Section(
    name="coverage",
    title="Coverage: what the generator draws",
    measure=measure,
    markdown=markdown,
    missed=missed,
)
