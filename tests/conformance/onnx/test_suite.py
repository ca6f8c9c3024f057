"""ONNX's own tests: they end as ``corpus/onnx-suite.json`` declares, and fixes break none.

They run in processes of their own, all in one test: rows count tests, whichever process ran these.
"""

from collections.abc import Mapping

import pytest

from relaxcheck.harness.onnx.suite.expectations import read, surprises
from relaxcheck.harness.onnx.suite.measuring import measured
from relaxcheck.harness.onnx.suite.results import Result
from relaxcheck.harness.onnx.suite.verification import OFF, ON, broken, faults
from relaxcheck.harness.onnx.suite.worker import Job
from relaxcheck.harness.releases.releases import own

pytestmark = pytest.mark.tvm

WORKERS = 2


def results(*, fixes: bool) -> Mapping[str, Result]:
    job = Job(fixes=fixes, workers=WORKERS)
    return measured(job, own(), lambda done, total: None).results


@pytest.fixture(autouse=True)
def _asked(request: pytest.FixtureRequest, fixes_on: bool) -> None:
    if request.config.getoption("--family"):
        pytest.skip("some families alone were asked for")
    if not fixes_on:
        pytest.skip("failures are declared with the fixes on")


@pytest.mark.slow
def test_they_end_as_declared() -> None:
    ended = results(fixes=True)
    lines = [
        *faults({ON: ended}),
        *surprises(ended.values(), read(), own().name, whole=True),
    ]
    if lines:
        pytest.fail("\n".join(lines), pytrace=False)


@pytest.mark.slow
def test_none_that_passes_fails_with_the_fixes() -> None:
    sides = {OFF: results(fixes=False), ON: results(fixes=True)}
    lines = [*faults(sides), *broken(sides)]
    if lines:
        pytest.fail("\n".join(lines), pytrace=False)
