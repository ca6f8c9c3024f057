"""The cheapest models of the zoo end as expected; the rest of them in ``make test-all``."""

from collections.abc import Iterator

import pytest

from relaxcheck.harness.releases.releases import own
from tests.zoo import expected
from tests.zoo.catalogue import ALL
from tests.zoo.model import Model
from tests.zoo.records import FIXES, ON, ONNX, TORCH, Trial
from tests.zoo.running import Server, ready

CHEAP = ("coupling-flow", "linear-attention", "vgg-like")
"""Models that take a second or two, right by both importers."""

pytestmark = pytest.mark.tvm


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(own().name) as started:
        yield started


def _end(server: Server, model: Model, path: str, fixes: tuple[str, ...], dynamic: bool) -> None:
    trial = Trial(model.name, path, dynamic)
    made = ready(model, dynamic=dynamic)
    results = list(server.tried(model, trial, made, fixes, 300.0))
    assert {each.fixes for each in results} == set(fixes)
    assert [str(each) for each in expected.surprises(results, expected.stored())] == []
    assert [each for each in expected.worsened(results) if "slower" not in each] == []


@pytest.mark.parametrize("name", CHEAP)
def test_cheap_models_end_as_expected(server: Server, name: str) -> None:
    _end(server, ALL[name], TORCH, (ON,), dynamic=False)


@pytest.mark.slow
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("path", [TORCH, ONNX])
@pytest.mark.parametrize("name", ALL)
def test_every_model_ends_as_expected(server: Server, name: str, path: str, dynamic: bool) -> None:
    model = ALL[name]
    if model.missing:
        pytest.skip(f"{', '.join(model.missing)} is not installed: pip install 'relaxcheck[zoo]'")
    if path == ONNX:
        pytest.importorskip("onnxscript", reason="torch.onnx.export needs onnxscript: extra zoo")
    if dynamic and not model.varying:
        pytest.skip("no dimension varies")
    _end(server, model, path, FIXES, dynamic=dynamic)
