"""Section: correct KV caches that the oracle calls wrong."""

import time
from collections import Counter

from tests.measure.quality.kvcache.drawn import cases, judged
from tests.measure.quality.section import Figures, Section, Show

RUNS = 5_000
"""Runs of the control at full size."""


def _control(share: float, workers: int, show: Show) -> Figures:
    count = max(1, round(RUNS * share))
    verdicts: Counter[str] = Counter()
    wrong: list[str] = []
    largest = 0.0
    begun = time.process_time()
    for done, case in enumerate(cases(count)):
        if done % 50 == 0:
            show(f"run {done}", done / count)
        outcome = judged(case)
        verdicts[outcome.verdict] += 1
        ratios = [check.ratio for check in outcome.checks if check.ratio is not None]
        largest = max([largest, *ratios])
        if not outcome.verdict.is_right:
            wrong.append(f"{case.identifier}: {outcome.message}")
    seconds = time.process_time() - begun
    return {
        "runs": count,
        "verdicts": dict(verdicts),
        "wrong": wrong[:5],
        "failures": len(wrong),
        "ratio": largest,
        "seconds": round(seconds, 1),
    }


def _control_text(figures: Figures) -> str:
    return (
        f"{figures['runs']:,} runs of a dense cache in the dtype of the case: "
        f"{figures['failures']} called wrong; the largest error is {figures['ratio']:.2f} of its "
        f"bound. {figures['seconds']} CPU seconds.\n"
    )


def _control_missed(figures: Figures) -> list[str]:
    if not figures["failures"]:
        return []
    return [f"{figures['failures']} correct runs are called wrong, as {figures['wrong'][0]}"]


SECTION = Section(
    "kvcache-control",
    "KV caches: false alarms",
    _control,
    _control_text,
    _control_missed,
)
