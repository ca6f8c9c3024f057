"""Section ``passes-control``: right passes and a right implementation of graphs must never fail."""

from collections import Counter
from pathlib import Path

from relaxcheck.generators.passes.calls import judged
from relaxcheck.harness.compiling.passes.details import RAN
from relaxcheck.harness.journal.journal import DRAWN, Journal, Mode
from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality import campaigns
from tests.measure.quality.passes.control import REWRITINGS
from tests.measure.quality.passes.families import families
from tests.measure.quality.section import Figures, Section, Show

SEED = 2026
FULL_SIZE = 20_000
CONTROL = "tests.measure.quality.passes.zygote"


def measure(share: float, workers: int, show: Show) -> Figures:
    """Run the control on ``share`` of the full size, with cases of every family of passes."""
    cases = max(1, round(FULL_SIZE * share))
    figures = campaigns.measure(
        "passes-control", cases, workers, show, seed=SEED, zygote=CONTROL, among=families()
    )
    counts: Counter[str] = Counter()
    with Journal(Path(figures["journal"]), Mode.READ) as journal:
        for recorded in journal.cases(DRAWN):
            wanted = judged(recorded.case)  # type: ignore[arg-type]
            counts["passes"] += len(wanted)
            if recorded.outcome is not None:
                counts["checked"] += len(recorded.outcome.details.get(RAN, ()))
    return {**figures, "passes": counts["passes"], "checked": counts["checked"]}


def missed(figures: Figures) -> list[str]:
    """The targets: every case has a verdict, none fails, and the checks ran.

    Of mixed precision the bounds of some operators are not known: there nothing is said.
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
    if figures["passes"] and not figures["checked"]:
        lost.append("the checks of passes never ran")
    return lost


def markdown(figures: Figures) -> str:
    """What stands in the place of passes, what that does not cover, and the counts as tables."""
    silent = figures["verdicts"].get(Verdict.NO_ORACLE, 0) - figures["all_unconstrained"]
    return "\n".join(
        (
            f"In the place of each pass stands one of {len(REWRITINGS)} rewritings of the program"
            f" ({', '.join(REWRITINGS)}), as the case's seed chooses; in the place of TVM's"
            " compiler the control of operators. The checks of a module after a pass (well formed,"
            " types, attributes, applied again, TVMScript, JSON) ran after"
            f" {figures['checked']} of {figures['passes']} passes; a program that TVM does not emit"
            " is a harness error. Not covered are the checks on modules that are lowered, which no"
            f" rewriting makes, and JSON where `save_json` ends the process. In {silent} cases no"
            " oracle says anything: bounds of mixed precision are known of some operators only.",
            "",
            campaigns.markdown(figures),
        )
    )


SECTION = Section(
    name="passes-control",
    title="False alarms about passes and graphs: right rewritings in their place",
    measure=measure,
    markdown=markdown,
    missed=missed,
)
