"""The figures of the planted bugs, and their rendering."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from relaxcheck.harness.outcomes.errors import headline
from tests.measure.quality.planted.hunt import MOST_CASES, Hunted
from tests.measure.quality.planted.plant import Plant
from tests.measure.quality.section import Figures

MEDIAN = 100
"""The target: half of all hunts take at most so many cases."""

_STEPS = (10, 30, 100, 300, 1000, MOST_CASES)


def figures(
    share: float,
    seeds: Sequence[int],
    hunts: Sequence[tuple[Plant, Sequence[Hunted]]],
    control: Sequence[Hunted],
) -> Figures:
    """The measured figures, as JSON."""
    return {
        "share": share,
        "seeds": list(seeds),
        "most_cases": MOST_CASES,
        "plants": [
            {
                "name": plant.name,
                "where": plant.where,
                "description": plant.description,
                "verdicts": [str(verdict) for verdict in plant.verdicts],
                "blame": list(plant.blame),
                "hunts": [_as_figures(plant, hunted) for hunted in hunts_of_plant],
            }
            for plant, hunts_of_plant in hunts
        ],
        "control": [
            {
                "seed": hunted.seed,
                "cases": hunted.drawn,
                "failed_at": hunted.cases,
                "verdict": None if hunted.verdict is None else str(hunted.verdict),
                "message": headline(hunted.message),
            }
            for hunted in control
        ],
    }


def _as_figures(plant: Plant, hunted: Hunted) -> dict[str, Any]:
    return {
        "seed": hunted.seed,
        "cases": hunted.cases,
        "drawn": hunted.drawn,
        "cpu_seconds": round(hunted.seconds, 1),
        "verdict": None if hunted.verdict is None else str(hunted.verdict),
        "right_verdict": hunted.verdict in plant.verdicts,
        "stage": hunted.stage,
        "message": headline(hunted.message),
        "blame": hunted.blame,
        "right_blame": hunted.blame is not None and plant.is_blamed(hunted.blame),
        "largest_dimension": hunted.largest,
        "axes_off_default": hunted.axes,
        "confirmed": hunted.confirmed,
        "control": [str(verdict) for verdict in hunted.control],
        "control_fails": any(verdict.is_failure for verdict in hunted.control),
    }


def _hunts(figures: Figures) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [(plant, hunted) for plant in figures["plants"] for hunted in plant["hunts"]]


def missed(figures: Figures) -> list[str]:
    """The targets: all found, the median, right verdicts, nothing found by the clean control."""
    lost = []
    hunts = _hunts(figures)
    for plant, hunted in hunts:
        which = f"{plant['name']}, seed {hunted['seed']}"
        if hunted["cases"] is None:
            lost.append(f"{which}: not found in {hunted['drawn']} cases")
            continue
        if not hunted["right_verdict"]:
            lost.append(f"{which}: {hunted['verdict']}, not {' or '.join(plant['verdicts'])}")
        if hunted["control_fails"]:
            lost.append(f"{which}: its case fails without it too ({', '.join(hunted['control'])})")
    for control in figures["control"]:
        if control["failed_at"] is not None:
            lost.append(
                f"no plant, seed {control['seed']}: {control['verdict']} at case"
                f" {control['failed_at']}: {control['message']}"
            )
    half = _median(hunts)
    if figures["share"] >= 1 and half > MEDIAN:
        lost.append(f"the median is {half:g} cases, more than {MEDIAN}")
    return lost


def _median(hunts: Sequence[tuple[Any, dict[str, Any]]]) -> float:
    """Of the cases to find; a hunt that found nothing counts as one that took for ever."""
    return median(
        float("inf") if hunted["cases"] is None else hunted["cases"] for _, hunted in hunts
    )


def markdown(figures: Figures) -> str:
    """A summary, the distribution of cases to find, and one row a plant."""
    hunts = _hunts(figures)
    hits = [hunted for _, hunted in hunts if hunted["cases"] is not None]
    seconds = sum(hunted["cpu_seconds"] for _, hunted in hunts)
    seeds = ", ".join(map(str, figures["seeds"]))
    count = len(hunts)
    lines = [
        f"{len(figures['plants'])} planted bugs, seeds {seeds}, fixes on, at most"
        f" {figures['most_cases']} cases each, drawn from all families.",
        "",
        f"**Found: {len(hits)} of {count}; median {_median(hunts):g} cases.** Right verdict:"
        f" {sum(hunted['right_verdict'] for hunted in hits)}; attribution names what it should:"
        f" {sum(hunted['right_blame'] for hunted in hits)}; came again in fresh processes:"
        f" {sum(hunted['confirmed'] is True for hunted in hits)}; the same case fails without"
        f" the plant: {sum(hunted['control_fails'] for hunted in hits)}."
        f" CPU seconds to the first failure: {seconds:.0f}.",
        "",
        *(
            f"Without any plant, seed {control['seed']}: "
            + (
                "no failure"
                if control["failed_at"] is None
                else f"{control['verdict']} at the last"
            )
            + f" in {control['cases']} cases.  "
            for control in figures["control"]
        ),
        "",
        "| found within | " + " | ".join(map(str, _STEPS)) + " |",
        "|---|" + "---:|" * len(_STEPS),
        "| share of hunts | "
        + " | ".join(
            f"{sum(hunted['cases'] <= step for hunted in hits) / count:.0%}" for step in _STEPS
        )
        + " |",
        "",
        "| plant | where | verdict | cases to find | CPU s | largest dimension |"
        " axes off default in the reduced case | blamed on |",
        "|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *(_row(plant) for plant in figures["plants"])])


def _row(plant: dict[str, Any]) -> str:
    hunts = plant["hunts"]

    def each(key: str) -> str:
        return ", ".join("–" if hunted[key] is None else str(hunted[key]) for hunted in hunts)

    verdicts = ", ".join(dict.fromkeys(_verdict(hunted) for hunted in hunts))
    blame = "; ".join(dict.fromkeys(map(_blame, hunts)))
    cells = (
        f"`{plant['name']}`: {plant['description']}",
        f"`{plant['where']}`",
        verdicts,
        each("cases"),
        each("cpu_seconds"),
        each("largest_dimension"),
        each("axes_off_default"),
        blame,
    )
    return "| " + " | ".join(cells) + " |"


def _verdict(hunted: dict[str, Any]) -> str:
    if hunted["verdict"] is None:
        return "**not found**"
    return str(hunted["verdict"]) if hunted["right_verdict"] else f"**{hunted['verdict']}**"


def _blame(hunted: dict[str, Any]) -> str:
    if hunted["blame"] is None:
        return "–"
    names = ", ".join(f"{axis}={value}" for axis, value in hunted["blame"].items()) or "nothing"
    return names if hunted["right_blame"] else f"**{names}**"
