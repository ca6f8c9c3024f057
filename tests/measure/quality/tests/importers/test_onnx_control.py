"""Implementations of ONNX in TVM's place: which of them answer, and that a wrong one is seen."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.values import Array, arrays
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.families import families
from relaxcheck.generators.onnx.model import Model, Node, Tensor
from relaxcheck.generators.onnx.static import static
from relaxcheck.harness.campaign.drawing import stream
from relaxcheck.harness.compiling.judgement import Expected, judge
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.onnx.asking import expected
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.oracles.answer import Unsupported
from tests.measure.quality.onnx import alarms, control
from tests.measure.quality.section import Figures

CASES = 200


def case_of(operator: str, shape: tuple[int | str, ...], seed: int = 0, **more: Any) -> OnnxCase:
    node = Node(operator, ("x",), ("y",), more.pop("attributes", {}))
    model = Model(18, (Tensor("x", shape, more.pop("dtype", "float32")),), (node,), ("y",))
    return OnnxCase("onnx-x", model, seed=seed, **more)


def test_the_seed_chooses_among_all_implementations(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = set()

    def asking(name: str) -> control.Implementation:
        def outputs(model: Model, values: Mapping[str, Array]) -> tuple[Array, ...]:
            asked.add(name)
            return control.evaluator.outputs(model, values)

        return outputs

    replaced = {
        name: (oracle, asking(name)) for name, (oracle, _) in control.IMPLEMENTATIONS.items()
    }
    monkeypatch.setattr(control, "IMPLEMENTATIONS", replaced)
    for seed in range(20):
        control.evaluate(case_of("Relu", (2,), seed), [np.ones(2, np.float32)])
    assert asked == set(control.IMPLEMENTATIONS)


def test_without_a_reference_no_oracle_stands_in_for_tvm(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be held to its own answer, which no case could miss."""
    nothing = control.reference.Trace({}, None, "reference: none")
    monkeypatch.setattr(control.reference, "trace", lambda model, values: nothing)
    asked = []
    for name, (oracle, outputs) in list(control.IMPLEMENTATIONS.items()):

        def noting(*arguments: Any, name: str = name, outputs: Any = outputs) -> Any:
            asked.append(name)
            return outputs(*arguments)

        monkeypatch.setitem(control.IMPLEMENTATIONS, name, (oracle, noting))
    for seed in range(9):
        control.evaluate(case_of("Relu", (2,), seed), [np.ones(2, np.float32)])
    assert asked == ["optimized"] * 9


def test_an_invalid_model_is_not_computed() -> None:
    case = case_of("Relu", (2,), expect=Invalid("Relu", ("X",)))
    with pytest.raises(control.Uncontrolled, match="invalid"):
        control.evaluate(case, [np.ones(2, np.float32)])


@pytest.mark.parametrize("seed", range(6))
def test_one_with_a_fault_is_left_out(seed: int) -> None:
    """ONNX's evaluator computes Erf of float64 in float32, and ONNX Runtime lacks it."""
    case = case_of("Erf", (2,), seed, dtype="float64")
    with pytest.raises(control.Uncontrolled, match="computes float64 in float32"):
        control.evaluate(case, [np.ones(2)])


def test_symbols_are_bound_by_the_shapes_of_the_inputs() -> None:
    case = case_of("Neg", ("n", 2), bindings=({"n": 1}, {"n": 3}))
    (value,) = control.evaluate(case, [np.ones((3, 2), np.float32)])
    assert np.array_equal(value, -np.ones((3, 2), np.float32))
    with pytest.raises(ValueError, match="no binding"):
        control.evaluate(case, [np.ones((2, 2), np.float32)])


def judged(case: OnnxCase) -> Verdict:
    values = arrays(case, 0)
    wanted = expected(static(case.model, case.bindings[0]), values)
    assert isinstance(wanted, Expected)
    actual = control.evaluate(case, [values[each.name] for each in case.model.inputs])
    return judge(case.model.outputs, case.bindings[0], actual, wanted).verdict


def test_a_wrong_control_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    case = case_of("ReduceMean", (4, 5))
    assert judged(case) is Verdict.PASS

    def wrong(model: Model, values: Mapping[str, Array]) -> tuple[Array, ...]:
        (value,) = control.runtime.outputs(model, values)
        return (value + np.float32(1e-5),)

    monkeypatch.setattr(control, "IMPLEMENTATIONS", {"wrong": ("onnxruntime", wrong)})
    assert judged(case) is Verdict.WRONG_VALUE


def test_reasons_of_all_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(model: Model, values: Mapping[str, Array]) -> tuple[Array, ...]:
        raise Unsupported("it has no kernel")

    monkeypatch.setattr(control, "IMPLEMENTATIONS", {"lacking": ("onnxruntime", lacking)})
    with pytest.raises(control.Uncontrolled, match="it has no kernel"):
        control.evaluate(case_of("Relu", (2,)), [np.ones(2, np.float32)])


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(1, zygote=alarms.CONTROL) as started:
        yield started


@pytest.mark.tvm
@pytest.mark.slow
def test_no_false_alarm(pool: Pool) -> None:
    for case in islice(stream(families(tuple(PIPELINES)), seed=7), CASES):
        pool.submit(Job(case))
    outcomes = [(job.case, outcome) for job, outcome in pool.drain()]
    bad = [
        f"{outcome.verdict} {case.identifier}: {headline(outcome.message)}"
        for case, outcome in outcomes
        if outcome.verdict.is_failure or outcome.verdict is Verdict.HARNESS_ERROR
    ]
    assert bad == []
    assert sum(outcome.verdict is Verdict.PASS for _, outcome in outcomes) > CASES * 2 // 3


@pytest.mark.tvm
def test_the_control_takes_the_place_of_tvm(pool: Pool) -> None:
    """No worker of TVM says of a model that nothing is known of it before the model has run."""
    pool.submit(Job(case_of("Erf", (2,), dtype="float64")), Job(case_of("Relu", (2,))))
    outcomes = {str(outcome.verdict): outcome for _, outcome in pool.drain()}
    assert set(outcomes) == {"no-oracle", "pass"}
    assert "Uncontrolled" in outcomes["no-oracle"].message


CLEAN: Figures = {
    **{"unended": 0, "not_looked_into": 0, "failures": 0, "splits_outside_as_well": 0},
    **{"cases": 9, "wanted": 9, "verdicts": {"pass": 9}},
}


@pytest.mark.parametrize(
    ("changed", "lines"),
    [
        ({}, []),
        ({"failures": 2}, ["failures of 9: 2, not 0"]),
        ({"splits_outside_as_well": 1}, ["oracle splits outside the bound as well: 1, not 0"]),
        ({"verdicts": {"harness-error": 3}}, ["harness errors: 3, not 0"]),
        ({"cases": 8}, ["cases with a verdict: 8 of 9"]),
        ({"unended": 1}, ["cases that never ended: 1, not 0"]),
        ({"verdicts": {"no-oracle": 4}}, []),
    ],
)
def test_the_targets(changed: Figures, lines: list[str]) -> None:
    assert alarms.missed({**CLEAN, **changed}) == lines
