"""Random graphs run, their steps know shapes and dtypes, and the seed alone decides them."""

import warnings
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from relaxcheck.generators.core.axes import cases, complete
from relaxcheck.generators.core.case import encode
from relaxcheck.generators.core.dims import evaluate
from relaxcheck.generators.core.values import arrays, constants
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.generators.torch.graphs.drafting import DIMS, Drafting, bindings_of
from relaxcheck.generators.torch.graphs.family import DTYPES
from relaxcheck.generators.torch.graphs.growth import (
    GRAPH,
    LAYERS,
    MOST_OUTPUTS,
    Table,
    graphs,
    started,
)
from relaxcheck.generators.torch.graphs.wire import Wire
from relaxcheck.generators.torch.module import module_of, tensor_of
from relaxcheck.generators.torch.program import uses
from tests.generators.torch.graphs.running import decoded, outputs_of

PIPELINES = ("build", "default-pipeline")
FAMILY = graphs(GRAPH, PIPELINES)
TABLES = (GRAPH, LAYERS)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
@settings(max_examples=60)
@given(data=st.data())
def test_points_are_programs_that_run(table: Table, data: st.DataObject) -> None:
    case = data.draw(cases(graphs(table, PIPELINES)))
    assert isinstance(case, TorchCase)
    assert decoded(encode(case)) == case
    for at in range(len(case.bindings)):
        assert len(outputs_of(case, at)) == len(case.program.outputs) <= MOST_OUTPUTS


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_step_can_be_the_last(table: Table) -> None:
    family = graphs(table, PIPELINES)
    for name in table.steps:
        built = 0
        for start in table.starts:
            try:
                point = complete(family.axes, {"start": start, "focus": name})
            except ValueError:
                continue
            assert outputs_of(family.build(point, 1), 0)
            built += 1
        assert built, name


def test_the_seed_alone_decides_the_graph() -> None:
    point = dict(complete(FAMILY.axes, {"steps": 8, "focus": "matmul"}))
    program = FAMILY.build(point, 5).program
    assert FAMILY.build({**point, "pipeline": "default-pipeline"}, 5).program == program
    assert FAMILY.build({**point, "regime": "exact"}, 5).program == program
    assert len({str(FAMILY.build(point, seed).program) for seed in range(10)}) > 5


def test_a_graph_returns_its_last_result_and_nothing_that_a_node_takes_but_that() -> None:
    point = complete(FAMILY.axes, {"steps": 8})
    for seed in range(20):
        program = FAMILY.build(point, seed).program
        taken = {name for node in program.nodes for name in uses(node)}
        assert not taken.intersection(program.outputs[1:])
        assert program.outputs[0] in program.nodes[-1].outputs or program.outputs[0] in uses(
            program.nodes[-1]
        )


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
@pytest.mark.parametrize("dims", DIMS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_steps_know_the_shapes_and_dtypes_of_their_results(
    table: Table, dims: str, dtype: str
) -> None:
    for start in table.starts:
        checked = 0
        for name, step in table.steps.items():
            for seed in range(3):
                draft = Drafting(dtype, dims=dims)
                if step(draft, started(draft, start), Random(seed)) is not None:
                    _hold(draft, name)
                    checked += 1
        assert checked > 50, start


def _hold(draft: Drafting, name: str) -> None:
    """Compare every value that the draft knows with PyTorch's."""
    made = [wire for wire in draft.wires.values() if wire.name in _results(draft)]
    draft.give(*made)
    case = TorchCase("torch-graph", draft.program(), bindings_of(draft))
    module = module_of(case.program, constants(case), case.seed, case.regime)
    for at, binding in enumerate(case.bindings):
        values = arrays(case, at)
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            results = module(*(tensor_of(values[each.name]) for each in case.program.inputs))
        results = results if isinstance(results, tuple) else (results,)
        for wire, result in zip(made, results, strict=True):
            _agree(name, wire, result, binding)


def _results(draft: Drafting) -> set[str]:
    return {name for node in draft.nodes for name in node.outputs}


def _agree(name: str, wire: Wire, result: torch.Tensor, binding: dict[str, int]) -> None:
    shape = tuple(evaluate(dim, binding) for dim in wire.shape)
    assert (name, wire.name, tuple(result.shape), str(result.dtype)) == (
        name,
        wire.name,
        shape,
        f"torch.{wire.dtype}",
    )
