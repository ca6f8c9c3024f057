"""Section ``torch-control``: PyTorch's interpreter in TVM's place must never fail."""

from relaxcheck.generators.torch.families import families
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality import campaigns
from tests.measure.quality.section import Figures, Section, Show

SEED = 2026
FULL_SIZE = 10_000
CONTROL = "tests.measure.quality.torch.zygote"


def measure(share: float, workers: int, show: Show) -> Figures:
    """Run the control on ``share`` of the full size, with cases of every family of programs."""
    cases = max(1, round(FULL_SIZE * share))
    return campaigns.measure(
        "torch-control",
        cases,
        workers,
        show,
        seed=SEED,
        zygote=CONTROL,
        among=families(tuple(PIPELINES)),
    )


def missed(figures: Figures) -> list[str]:
    """The targets: every case has a verdict, none fails, and no bound is held wrongly.

    Where the exported program differs from the module, the bound may be at fault. Where PyTorch
    does not export a program, or knows no answer, nothing can be said.
    """
    lost = [
        f"{what}: {count}, not 0"
        for what, count in (
            ("cases that never ended", figures["unended"]),
            ("failures not looked into", figures["not_looked_into"]),
            (f"failures of {figures['cases']}", figures["failures"]),
            ("oracle splits outside the bound as well", figures["splits_outside_as_well"]),
            ("harness errors", figures["verdicts"].get(Verdict.HARNESS_ERROR, 0)),
        )
        if count
    ]
    if figures["cases"] != figures["wanted"]:
        lost.append(f"cases with a verdict: {figures['cases']} of {figures['wanted']}")
    return lost


def markdown(figures: Figures) -> str:
    """The counts as tables, the families being those of PyTorch's samples and of graphs."""
    silent = figures["verdicts"].get(Verdict.NO_ORACLE, 0)
    return "\n".join(
        (
            "In TVM's place stands PyTorch's interpreter of the exported program, which runs it as"
            " it is, or each function in float64 and its results rounded, as the case's seed"
            f" chooses. In {silent} cases PyTorch does not export the program, or knows no answer.",
            "",
            campaigns.markdown(figures),
        )
    )


SECTION = Section(
    name="torch-control",
    title="False alarms about PyTorch programs: PyTorch's interpreter in TVM's place",
    measure=measure,
    markdown=markdown,
    missed=missed,
)
