"""Section ``false-alarms``: a correct implementation in TVM's place must never fail."""

from tests.measure.quality import campaigns
from tests.measure.quality.section import Figures, Section, Show

SEED = 2026
FULL_SIZE = 50_000
"""Cases. TVM itself gets fewer with the fixes (``campaigns.FULL_SIZE``): it costs more a case."""
CONTROL = "tests.measure.quality.control.zygote"


def measure(share: float, workers: int, show: Show) -> Figures:
    """Run the control on ``share`` of the full size."""
    cases = max(1, round(FULL_SIZE * share))
    return campaigns.measure("false-alarms", cases, workers, show, seed=SEED, zygote=CONTROL)


SECTION = Section(
    name="false-alarms",
    title="False alarms: a correct implementation in TVM's place",
    measure=measure,
    markdown=campaigns.markdown,
    missed=campaigns.missed,
)
