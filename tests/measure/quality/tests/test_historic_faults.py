"""The faults of the two upstream reports, put back, are caught; and the fixes cure them."""

from collections.abc import Iterator

import msgspec
import pytest

from relaxcheck.generators.core.axes import Point, complete
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.families import family
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool


@pytest.fixture(scope="module")
def historic() -> Iterator[Pool]:
    with Pool(1, zygote="tests.measure.quality.planted.historic_zygote") as started:
        yield started


def outcome(pool: Pool, case: Case) -> Outcome:
    pool.submit(Job(case))
    ((_, result),) = pool.drain()
    return result


def case_at(name: str, chosen: Point, fixes: bool) -> Case:
    member = family(name, tuple(PIPELINES))
    built = member.build(complete(member.axes, chosen), seed=1)
    return msgspec.structs.replace(built, fixes=fixes)


BAILS: list[tuple[str, Point]] = [
    ("conv1d_transpose", {"dilation.w": 2}),
    ("conv2d_transpose", {"dilation.h": 2}),
    ("conv3d_transpose", {"dilation.d": 3}),
    ("conv1d_transpose", {"data_layout": "NWC"}),
    ("conv2d_transpose", {"data_layout": "NHWC"}),
    ("conv3d_transpose", {"data_layout": "NDHWC"}),
    ("conv2d_transpose", {"out_layout": "NHWC"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "chosen"), BAILS)
def test_a_returned_call_is_a_silent_bail(historic: Pool, name: str, chosen: Point) -> None:
    ended = outcome(historic, case_at(name, chosen, fixes=False))
    assert (ended.verdict, ended.stage) == (Verdict.SILENT_BAIL, "LegalizeOps")
    assert ended.operator == f"nn.{name}"


@pytest.mark.slow
def test_batch_and_heads_merged_twice_is_an_opaque_crash(historic: Pool) -> None:
    ended = outcome(historic, case_at("attention", {"symbolic.batch": True}, fixes=False))
    assert (ended.verdict, ended.stage) == (Verdict.OPAQUE_CRASH, "LegalizeOps")
    assert "batch dimension doesn't match" in ended.message


@pytest.mark.slow
@pytest.mark.parametrize(("name", "chosen"), [*BAILS, ("attention", {"symbolic.batch": True})])
def test_the_fixes_cure_both(historic: Pool, name: str, chosen: Point) -> None:
    ended = outcome(historic, case_at(name, chosen, fixes=True))
    assert ended.verdict is Verdict.PASS, ended.message
    assert len(ended.oracles) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["conv1d_transpose", "conv2d_transpose", "attention"])
def test_cases_that_passed_before_still_pass(historic: Pool, name: str) -> None:
    assert outcome(historic, case_at(name, {}, fixes=False)).verdict is Verdict.PASS
