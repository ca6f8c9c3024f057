"""Section ``onnx-control``: right implementations of ONNX in TVM's place must never fail."""

from relaxcheck.generators.onnx.families import families
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality import campaigns
from tests.measure.quality.section import Figures, Section, Show

SEED = 2026
FULL_SIZE = 20_000
CONTROL = "tests.measure.quality.onnx.zygote"


def measure(share: float, workers: int, show: Show) -> Figures:
    """Run the control on ``share`` of the full size, with cases of every family of models."""
    cases = max(1, round(FULL_SIZE * share))
    return campaigns.measure(
        "onnx-control",
        cases,
        workers,
        show,
        seed=SEED,
        zygote=CONTROL,
        among=families(tuple(PIPELINES)),
    )


def missed(figures: Figures) -> list[str]:
    """The targets: every case has a verdict, none fails, and no bound is held wrongly.

    Where oracles differ and what is judged lies outside the bound as well, the bound may be at
    fault. Where no implementation is right and can compute a model, nothing can be said.
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
    """The counts as tables, the families being those of the operators."""
    silent = figures["verdicts"].get(Verdict.NO_ORACLE, 0) - figures["all_unconstrained"]
    return "\n".join(
        (
            "In TVM's place stands, as the case's seed chooses, ONNX Runtime with or without its"
            " optimizations, or ONNX's evaluator, where `oracles/onnx/faults` has nothing against"
            f" it. In {silent} cases the model is invalid, none of them can compute it rightly, or"
            " no oracle can.",
            "",
            campaigns.markdown(figures),
        )
    )


SECTION = Section(
    name="onnx-control",
    title="False alarms about ONNX models: implementations of ONNX in TVM's place",
    measure=measure,
    markdown=markdown,
    missed=missed,
)
