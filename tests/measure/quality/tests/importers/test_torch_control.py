"""The control of PyTorch programs: right in both of its ways, and silent where it cannot run."""

from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest
import torch
from torch.export import ExportedProgram

from relaxcheck.generators.core.values import arrays, constants
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.generators.torch.exporting import exported
from relaxcheck.generators.torch.module import module_of
from relaxcheck.generators.torch.program import Node, Program, Ref, Tensor
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool
from tests.measure.quality.section import Figures
from tests.measure.quality.torch import alarms
from tests.measure.quality.torch.control import WAYS, Rounding, Uncontrolled, evaluate, way_of

X = Ref("x")


def _case(*nodes: Node, dtype: str = "float32", seed: int = 0) -> TorchCase:
    program = Program((Tensor("x", (3, 4), dtype),), nodes, (nodes[-1].outputs[0],))
    return TorchCase("torch-graph", program, seed=seed)


def _exported(case: TorchCase) -> ExportedProgram:
    module = module_of(case.program, constants(case), case.seed, case.regime)
    return exported(module, case.program, arrays(case, 0), case.exporting)


def test_each_way_is_taken_by_some_seed() -> None:
    case = _case(Node("torch.tanh", (X,)))
    ways = {way_of(TorchCase("torch-graph", case.program, seed=seed)) for seed in range(20)}
    assert ways == set(WAYS)


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
def test_a_program_is_computed_rightly_in_each_way(
    way: type[AbstractContextManager[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = (Node("torch.tanh", (X,), outputs=("t",)), Node("torch.sum", (Ref("t"), 1)))
    case = _case(*nodes)
    monkeypatch.setattr("tests.measure.quality.torch.control.way_of", lambda case: "it")
    monkeypatch.setattr("tests.measure.quality.torch.control.WAYS", {"it": way})
    value = arrays(case, 0)["x"]
    (result,) = evaluate(case, _exported(case), [value])
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, np.tanh(value.astype(np.float64)).sum(1), 1e-5, 1e-6)


def test_rounding_gives_the_nearest_number_of_each_function() -> None:
    tensor = torch.linspace(-3, 3, 1000, dtype=torch.float16)
    with Rounding():
        made = torch.exp(tensor)
    wanted = torch.exp(tensor.double()).half()
    assert made.dtype == torch.float16
    assert torch.equal(made, wanted)


def test_rounding_leaves_writes_and_views_as_they_are() -> None:
    tensor = torch.zeros(2, 3)
    with Rounding():
        tensor[0].add_(1)
    assert tensor.tolist() == [[1, 1, 1], [0, 0, 0]]


def test_a_program_that_does_not_run_where_the_module_does_says_nothing() -> None:
    # PyTorch decomposes this into a write of int64 into bool.
    program = Program(
        (Tensor("x", (2, 2), "bool"), Tensor("i", (2,), "int64")),
        (Node("torch.index_add", (X, 0, Ref("i"), X), {"alpha": 2}),),
        ("y",),
    )
    case = TorchCase("torch-graph", program)
    inputs = [np.ones((2, 2), bool), np.array([0, 1])]
    module = module_of(program, {}, 0, "normal")
    made = exported(module, program, {"x": inputs[0], "i": inputs[1]}, case.exporting)
    with pytest.raises(Uncontrolled, match="does not run"):
        evaluate(case, made, inputs)


@pytest.mark.slow
def test_a_worker_of_the_control_passes_what_is_right() -> None:
    nodes = (Node("torch.tanh", (X,), outputs=("t",)), Node("torch.sum", (Ref("t"), 1)))
    with Pool(1, zygote=alarms.CONTROL) as pool:
        for seed in range(4):
            pool.submit(Job(_case(*nodes, seed=seed)))
        outcomes = [outcome for _, outcome in pool.drain()]
    assert [outcome.verdict for outcome in outcomes] == [Verdict.PASS] * 4


CLEAN: Figures = {
    "wanted": 10,
    "cases": 10,
    "unended": 0,
    "not_looked_into": 0,
    "failures": 0,
    "splits_outside_as_well": 0,
    "verdicts": {"pass": 9, "no-oracle": 1},
}


@pytest.mark.parametrize(
    ("changed", "lines"),
    [
        ({}, []),
        ({"failures": 2}, ["failures of 10: 2, not 0"]),
        (
            {"unended": 1, "cases": 9},
            ["cases that never ended: 1, not 0", "cases with a verdict: 9 of 10"],
        ),
        ({"splits_outside_as_well": 1}, ["oracle splits outside the bound as well: 1, not 0"]),
        ({"verdicts": {"harness-error": 3}}, ["harness errors: 3, not 0"]),
    ],
)
def test_the_targets(changed: Figures, lines: list[str]) -> None:
    assert alarms.missed({**CLEAN, **changed}) == lines
