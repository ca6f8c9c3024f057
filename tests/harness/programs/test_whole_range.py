"""The regime of the whole range: elementary functions have it, and nothing else."""

import pytest
from msgspec.structs import replace

from relaxcheck.generators import families
from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.family import OperatorFamily
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.kind import KIND, defaults
from relaxcheck.harness.programs.reduction.sequence import known
from relaxcheck.harness.programs.reduction.setting_steps import settings

REGIME = "range"


def _case(operator: str, regime: str = "normal") -> Case:
    family = OperatorFamily(OPERATORS[operator], ("build",))
    return family.build(complete(family.axes, {"regime": regime}), 3)


def test_elementary_functions_have_the_regime_and_no_other_family() -> None:
    with_regime = {
        family.name
        for family in families.every(("build",))
        for axis in family.axes
        if axis.name == "regime" and REGIME in axis.values
    }
    assert with_regime == {
        record.name.rpartition(".")[2] for record in OPERATORS.values() if record.elementary
    }
    assert {"exp", "tanh", "atan2", "power", "erf", "selu"} <= with_regime
    assert not {"dynamic", "add", "matmul", "softmax"} & with_regime


def test_drawn_cases_run_in_the_regime_too() -> None:
    assert KIND.as_drawn(_case("exp")).also == ("exact", "boundary", REGIME)
    assert KIND.as_drawn(_case("exp", REGIME)).also == ("normal", "exact", "boundary")
    assert KIND.as_drawn(_case("add")).also == ("exact", "boundary")
    assert KIND.as_drawn(_case("exp", "special")).also == ()


@pytest.mark.parametrize(
    ("regime", "plainer"),
    [
        (REGIME, {"normal", "exact", "moderate", "boundary"}),
        ("special", {"normal", "exact", "moderate", "boundary"}),
        ("boundary", {"normal", "exact", "moderate"}),
    ],
)
def test_reduction_goes_to_plainer_regimes(regime: str, plainer: set[str]) -> None:
    """No other regime leads to that of the whole range, which most families lack."""
    case = _case("exp", regime)
    tried = settings(case, known(Outcome(Verdict.WRONG_VALUE), defaults()))
    assert {each.regime for each in tried} - {regime} == plainer


def test_the_regime_stays_where_it_is_the_only_way_to_fail() -> None:
    """A failure of the whole range alone is isolated with its inputs."""
    case = replace(KIND.as_drawn(_case("exp")), also=("exact", REGIME))
    outcome = Outcome(Verdict.WRONG_VALUE, "compare", None, "wrong", ())
    trials = KIND.isolate(case, outcome)
    tried = next(trials)
    seen = [tried.regime]
    ended: StopIteration | None = None
    while ended is None:
        try:
            tried = trials.send(outcome if tried.regime == REGIME else Outcome(Verdict.PASS))
            seen.append(tried.regime)
        except StopIteration as end:
            ended = end
    assert seen == ["normal", "exact", REGIME]
    assert ended.value[0].regime == REGIME
