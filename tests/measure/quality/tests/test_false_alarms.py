"""A correct implementation in TVM's place never fails; it refuses what the definitions refuse."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from relaxcheck.generators.core.axes import settle
from relaxcheck.generators.core.case import Invalid, Valid
from relaxcheck.generators.core.faults import broken, pin
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.families import every
from relaxcheck.harness.campaign.drawing import stream
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.outcomes.errors import headline, names
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool
from tests.measure.quality.control.evaluate import check
from tests.measure.quality.control.operator import Refused
from tests.measure.quality.false_alarms import CONTROL

CASES = 240
FAMILIES = every(tuple(PIPELINES))


@pytest.fixture(scope="module")
def control() -> Iterator[Pool]:
    with Pool(1, zygote=CONTROL) as started:
        yield started


def outcomes(pool: Pool, cases: list[Case]) -> list[tuple[Case, Outcome]]:
    for case in cases:
        pool.submit(Job(case))
    return [(job.case, outcome) for job, outcome in pool.drain()]


@pytest.mark.tvm
@pytest.mark.slow
def test_no_false_alarm(control: Pool) -> None:
    counted: Counter[Verdict] = Counter()
    alarms = []
    for case, outcome in outcomes(control, list(islice(stream(FAMILIES, seed=7), CASES))):
        counted[outcome.verdict] += 1
        wanted = Verdict.PASS if isinstance(case.expect, Valid) else Verdict.REJECTED
        if outcome.verdict not in (wanted, Verdict.ORACLE_SPLIT) and not outcome.nothing_compared:
            alarms.append(f"{outcome.verdict} {case.identifier}: {headline(outcome.message)}")
    assert alarms == []
    # The rest is told from nothing: splits are rare, and something is compared.
    assert counted[Verdict.ORACLE_SPLIT] <= CASES // 100
    assert counted[Verdict.NO_ORACLE] <= CASES // 50
    assert counted[Verdict.PASS] > CASES // 2


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_fault_is_refused_by_name(family: Any) -> None:
    for fault in family.faults:
        axes = pin(family.axes, fault.pinned)
        point = settle(axes, {axis.name: axis.default for axis in axes}, ())
        assert point is not None
        case = broken(family, fault, point, seed=1)
        assert isinstance(case.expect, Invalid)
        with pytest.raises(Refused) as refused:
            check(case)
        assert names(str(refused.value), case.expect.operator, case.expect.fault), fault.kind


@pytest.mark.tvm
def test_the_control_takes_the_place_of_tvm(control: Pool) -> None:
    attention: Any = next(family for family in FAMILIES if family.name == "attention")
    point = {axis.name: axis.default for axis in attention.axes}
    fault = next(each for each in attention.faults if each.kind == "causal-mask-unknown")
    case = broken(attention, fault, point, seed=1)
    ((_, outcome),) = outcomes(control, [case])
    assert (outcome.verdict, outcome.stage) == (Verdict.REJECTED, "check")
