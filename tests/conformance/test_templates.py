"""The named programs over symbolic dimensions conform at every legal binding and in wrong calls."""

import msgspec
import pytest

from relaxcheck.generators.core.axes import Point
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.graphs import family as dynamic
from relaxcheck.generators.graphs.family import TEMPLATES
from relaxcheck.generators.graphs.mismatch import mismatched, wrong
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs.conformance import Conformance
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool
from tests.conformance import decoder

FAMILY = dynamic.family(dynamic.PIPELINES)
DEFAULT: Point = {axis.name: axis.default for axis in FAMILY.axes}


@pytest.fixture(autouse=True)
def _chosen(request: pytest.FixtureRequest) -> None:
    if dynamic.NAME not in (request.config.getoption("--family") or [dynamic.NAME]):
        pytest.skip("of another family than those chosen")


def built(form: str, pipeline: str, fixes: bool) -> Case:
    """The template ``form``, at every binding of its sizes that is legal."""
    point = {**DEFAULT, "form": form, "pipeline": pipeline}
    legal = dynamic.drafted(point, 0).legal()
    if form == "decoder":
        # At the lengths of its own test; here at two.
        legal = legal[:2]
    case = FAMILY.build(point, 0)
    return msgspec.structs.replace(case, bindings=tuple(legal), fixes=fixes)


UNSOLVED = {"derived: a fifth": "m cannot be found from the inputs"}
"""Templates that nothing can compile, and the words in which they are refused."""


_PLAIN = decoder.PIPELINES[0]
"""Differs from the next, which fuses, by that alone."""

_PIPELINES = [
    pytest.param(each, marks=[pytest.mark.slow] * (each == _PLAIN)) for each in decoder.PIPELINES
]


@pytest.mark.parametrize("pipeline", _PIPELINES)
def test_every_template_conforms_at_every_binding(
    pipeline: str, pool: Pool, fixes_on: bool
) -> None:
    cases = {form: built(form, pipeline, fixes_on) for form in TEMPLATES}
    assert sum(len(case.bindings) for case in cases.values()) > 1000
    pool.submit(*(Job(case, tag=form) for form, case in cases.items()))
    outcomes = {str(job.tag): outcome for job, outcome in pool.drain()}
    for form, message in UNSOLVED.items():
        refused = outcomes.pop(form)
        assert refused.verdict is Verdict.REJECTED
        assert message in refused.message
    wrong = {
        form: outcome.message
        for form, outcome in outcomes.items()
        if outcome.verdict is not Verdict.PASS
    }
    assert wrong == {}
    assert all(len(item.checks) >= len(cases[form].bindings) for form, item in outcomes.items())


def test_wrong_calls_of_templates_are_refused(conformance: Conformance, fixes_on: bool) -> None:
    cases = [
        mismatched(case, place, off)
        for form in TEMPLATES
        for case in [built(form, "fixes-pipeline", fixes_on)]
        for place, off in [way for way in wrong(case) if way[1] == 1][:2]
    ]
    assert len(cases) > 15
    assert conformance.failures(cases) == []


@pytest.mark.parametrize(
    ("way", "pipeline"),
    [
        pytest.param("repeat", "fixes-build", marks=pytest.mark.slow),
        ("broadcast_to", "fixes-pipeline"),
    ],
)
def test_the_decoder_is_right_at_every_length(
    way: str, pipeline: str, pool: Pool, fixes_on: bool
) -> None:
    """One compiled module, held against the reference, PyTorch and ONNX Runtime."""
    ((_, case),) = (
        (name, case) for name, case in decoder.cases((way,)) if case.pipeline == pipeline
    )
    outcome = decoder.ran(pool, msgspec.structs.replace(case, fixes=fixes_on))
    assert outcome.verdict is Verdict.PASS, outcome.message
    assert [check.binding["m"] for check in outcome.checks] == list(range(1, 65))
    assert all({"pytorch", "onnxruntime"} <= set(check.oracles) for check in outcome.checks)
    # A bound that nothing comes near would hold anything.
    assert all(check.ratio is not None and 0.01 < check.ratio <= 1 for check in outcome.checks)
