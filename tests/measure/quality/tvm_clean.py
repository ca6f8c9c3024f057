"""Section ``tvm``: with the fixes on, every failure of TVM itself is a bug that was looked at."""

from relaxcheck.harness.known.expected_failures import known_gaps
from tests.measure.quality import campaigns
from tests.measure.quality.section import Figures, Section, Show

SEED = 2026


def measure(share: float, workers: int, show: Show) -> Figures:
    """Run TVM with the fixes on ``share`` of the full size."""
    cases = max(1, round(campaigns.FULL_SIZE * share))
    return campaigns.measure("tvm", cases, workers, show, seed=SEED, fixes=True, gaps=known_gaps())


SECTION = Section(
    name="tvm",
    title="TVM itself, fixes on",
    measure=measure,
    markdown=campaigns.markdown,
    missed=campaigns.missed,
)
