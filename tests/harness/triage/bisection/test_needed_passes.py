"""The search among passes that nothing compiles without: lowerings, and what follows them."""

from itertools import count

import pytest

from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.bisection.search import (
    Evidence,
    Trial,
)
from tests.harness.triage.bisection.concluding import NANS, RIGHT, UNUSABLE, WRONG, conclude


@pytest.mark.parametrize(
    ("direct", "culprit", "fragment"),
    [
        (
            WRONG,
            "LegalizeOps",
            "each of the functions that LegalizeOps makes of toy.first is built",
        ),
        (RIGHT, None, "it is right: it may be any of CallTIRRewrite, VMShapeLower, or code"),
        (UNUSABLE, None, "raises an error in code generation: it may be any of LegalizeOps, Call"),
    ],
)
def test_faults_of_the_shortest_way_are_the_lowerings_if_its_functions_are(
    direct: Outcome, culprit: str | None, fragment: str
) -> None:
    needed = ["LegalizeOps", "CallTIRRewrite", "VMShapeLower"]

    def judge(trial: Trial) -> Outcome:
        if set(needed) & set(trial.without):
            return UNUSABLE
        return direct if trial.direct else WRONG

    result = conclude(["a", *needed, "b"], judge).result
    assert result.culprit == culprit
    assert result.evidence == (Evidence.DIRECT if culprit else Evidence.NONE)
    assert fragment in result.why
    assert result.operator == "toy.first"


def test_of_passes_that_nothing_compiles_without_the_first_wrong_module_names_one() -> None:
    needed = ["LegalizeOps", "CallTIRRewrite", "VMShapeLower", "Last"]

    def judge(trial: Trial) -> Outcome:
        if set(needed) & set(trial.without):
            return UNUSABLE
        return RIGHT if trial.direct and trial.after in ("", "CallTIRRewrite") else WRONG

    result = conclude(["a", *needed], judge).result
    assert (result.culprit, result.evidence) == ("VMShapeLower", Evidence.DIRECT)
    assert result.why == (
        "if each of the functions of the module after VMShapeLower is built by itself and called, "
        "the program gives wrong values; of the module after CallTIRRewrite it is right"
    )


def test_passes_over_the_functions_themselves_are_not_told_apart_so() -> None:
    needed = ["LegalizeOps", "CallTIRRewrite", "tirx.BindTarget"]

    def judge(trial: Trial) -> Outcome:
        if set(needed) & set(trial.without):
            return UNUSABLE
        return RIGHT if trial.direct and trial.after != "tirx.BindTarget" else WRONG

    assert conclude(needed, judge).result.culprit is None


def test_a_module_that_cannot_be_called_names_no_pass() -> None:
    needed = ["LegalizeOps", "CallTIRRewrite", "VMShapeLower"]

    def judge(trial: Trial) -> Outcome:
        if set(needed) & set(trial.without):
            return UNUSABLE
        if trial.after == "CallTIRRewrite":
            return Outcome(Verdict.HARNESS_ERROR, "run", None, "NotDirect: If")
        return RIGHT if trial.direct and not trial.after else WRONG

    assert conclude(needed, judge).result.culprit is None


def test_a_lowering_that_a_correction_cures_is_at_fault_however_its_functions_fail() -> None:
    def judge(trial: Trial) -> Outcome:
        unusable = trial.direct or "LegalizeOps" in trial.without
        return UNUSABLE if unusable else RIGHT if trial.fixed else WRONG

    result = conclude(["a", "LegalizeOps", "b"], judge).result
    assert (result.culprit, result.evidence) == ("LegalizeOps", Evidence.FIXED)


def test_passes_that_the_lowering_runs_are_part_of_it() -> None:
    needed = {"LegalizeOps/Inner", "LegalizeOps"}
    result = conclude(
        ["LegalizeOps/Inner", "LegalizeOps"],
        lambda trial: UNUSABLE if needed & set(trial.without) else WRONG,
    ).result
    assert (result.culprit, result.evidence) == ("LegalizeOps", Evidence.DIRECT)


@pytest.mark.parametrize(
    ("cured_by", "culprit"),
    [({"LegalizeOps"}, "LegalizeOps"), ({"ToMixed", "LegalizeOps"}, "ToMixed"), ({"x"}, None)],
)
def test_the_fixes_tell_apart_what_nothing_compiles_without(
    cured_by: set[str], culprit: str | None
) -> None:
    needed = {"ToMixed", "LegalizeOps"}

    def judge(trial: Trial) -> Outcome:
        if needed & set(trial.without):
            return UNUSABLE
        return RIGHT if cured_by <= set(trial.fixed) else WRONG

    result = conclude(["ToMixed", "a", "LegalizeOps"], judge).result
    assert result.culprit == culprit
    assert result.evidence == (Evidence.FIXED if culprit else Evidence.NONE)
    assert culprit or "any of ToMixed and LegalizeOps" in result.why


@pytest.mark.parametrize(
    ("steps", "culprit"), [(["LegalizeOps", "a"], "LegalizeOps"), (["a", "LegalizeOps"], None)]
)
def test_a_failure_that_comes_and_goes_is_the_lowerings_if_its_functions_fail(
    steps: list[str], culprit: str | None
) -> None:
    """As index_tensor does, which reads past an end: only where no other pass came before."""
    runs = count()

    def judge(trial: Trial) -> Outcome:
        if trial.direct:
            # Not at once, and with NaN instead.
            return NANS if next(runs) == 2 else RIGHT
        return RIGHT if trial.plain and trial.without else WRONG

    result = conclude(steps, judge).result
    assert result.culprit == culprit
    assert result.evidence == (Evidence.DIRECT if culprit else Evidence.NONE)
