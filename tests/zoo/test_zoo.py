"""The cheapest models of the zoo end as expected; all others in ``make test-all``."""

from collections.abc import Iterator

import pytest

from relaxcheck.harness.releases.releases import own
from tests.zoo import expected
from tests.zoo.catalogue import ALL
from tests.zoo.records import FIXES, ON, ONNX, TORCH, Trial
from tests.zoo.running import ONNX_EXPORTER, Server, ready

CHEAP = ("coupling-flow", "vgg-like")
"""Models that take a second or two, right by both importers."""

STORED = expected.verdicts(expected.stored())
TRIALS = sorted({trial for trial, release, _ in STORED if release == own().name})

pytestmark = pytest.mark.tvm


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(own().name) as started:
        yield started


def _end(server: Server, trial: Trial, fixes: tuple[str, ...]) -> None:
    model = ALL[trial.model]
    made = ready(model, dynamic=trial.dynamic)
    results = list(server.tried(model, trial, made, fixes, 300.0))
    assert {each.fixes for each in results} == set(fixes)
    assert [str(each) for each in expected.surprises(results, expected.stored())] == []
    # Other tests run at the same time: the time of a run says nothing here.
    assert [each for each in expected.worsened(results) if "slower" not in each] == []


@pytest.mark.parametrize("name", CHEAP)
def test_cheap_models_end_as_expected(server: Server, name: str) -> None:
    _end(server, Trial(name, TORCH), (ON,))


@pytest.mark.slow
@pytest.mark.parametrize("trial", TRIALS, ids=str)
def test_every_model_ends_as_expected(server: Server, trial: Trial) -> None:
    missing = ALL[trial.model].missing
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed: pip install 'relaxcheck[zoo]'")
    if trial.path == ONNX:
        pytest.importorskip(ONNX_EXPORTER, reason="pip install 'relaxcheck[zoo]'")
    states = tuple(each for each in FIXES if (trial, own().name, each) in STORED)
    _end(server, trial, states)
