"""Section: planted bugs of KV caches, and the runs until a campaign finds them."""

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.kvcache.control import FLAWS
from tests.measure.quality.kvcache.drawn import cases, judged
from tests.measure.quality.section import Figures, Section, Show

WITHIN = 500
"""Runs in which each planted bug has to be found."""


def _planted(share: float, workers: int, show: Show) -> Figures:
    hunts = 3 if share >= 1 else 1
    found: dict[str, list[int | None]] = {}
    for at, flaw in enumerate(FLAWS):
        show(flaw, at / len(FLAWS))
        found[flaw] = [_hunt(flaw, number) for number in range(hunts)]
    return {"found": found}


def _hunt(flaw: str, number: int) -> int | None:
    """The number of runs until the flaw shows, None if it does not within ``WITHIN``."""
    for run, case in enumerate(cases(WITHIN, number), 1):
        if judged(case, flaw).verdict is Verdict.WRONG_VALUE:
            return run
    return None


def _planted_text(figures: Figures) -> str:
    lines = ["| bug | found in run |", "|---|---|"]
    for flaw, runs in figures["found"].items():
        shown = ", ".join("not found" if run is None else str(run) for run in runs)
        lines.append(f"| {FLAWS[flaw]} | {shown} |")
    return "\n".join(lines) + "\n"


def _planted_missed(figures: Figures) -> list[str]:
    return [
        f"the planted bug {flaw} is not found within {WITHIN} runs"
        for flaw, runs in figures["found"].items()
        if None in runs
    ]


SECTION = Section(
    "kvcache-planted",
    "KV caches: planted bugs",
    _planted,
    _planted_text,
    _planted_missed,
)
