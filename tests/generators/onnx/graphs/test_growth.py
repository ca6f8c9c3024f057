"""Random graphs are models, whose last step is the one that was asked for."""

from random import Random

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import shape_inference

from relaxcheck.generators.core.axes import cases, complete
from relaxcheck.generators.core.dims import evaluate
from relaxcheck.generators.core.values import arrays, constants
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.graphs.drafting import Drafting, bindings_of
from relaxcheck.generators.onnx.graphs.growth import OPSETS, Graphs
from relaxcheck.generators.onnx.graphs.steps import STEPS
from relaxcheck.generators.onnx.graphs.steps.wire import Wire
from relaxcheck.generators.onnx.proto import model_proto
from relaxcheck.generators.onnx.schemas import operators

FAMILY = Graphs(("build", "default-pipeline"))


@settings(max_examples=100)
@given(data=st.data())
def test_points_are_models(data: st.DataObject) -> None:
    case = data.draw(cases(FAMILY))
    proto = model_proto(case.model, constants(case))
    onnx.checker.check_model(proto)
    shape_inference.infer_shapes(proto, check_type=True, strict_mode=True, data_prop=True)
    focus = str(case.at["focus"])
    if focus in operators():
        assert focus in {node.operator for node in case.model.nodes}


@pytest.mark.parametrize("name", STEPS)
def test_every_step_can_be_the_last(name: str) -> None:
    first, _ = STEPS[name]
    for opset in OPSETS:
        starts = [
            {"opset": opset, "start": start, "focus": name, "dims": dims}
            for start in ("tokens", "matrix", "image", "vector")
            for dims in ("static", "batch", "all")
        ]
        fitting = 0
        for chosen in starts:
            try:
                point = complete(FAMILY.axes, chosen)
            except ValueError:
                continue
            fitting += 1
            assert FAMILY.build(point, 1).model.outputs
        assert bool(fitting) == (opset >= first)


def test_the_seed_alone_decides_the_graph() -> None:
    point = dict(complete(FAMILY.axes, {"steps": 8, "focus": "MatMul"}))
    model = FAMILY.build(point, 5).model
    assert FAMILY.build({**point, "pipeline": "default-pipeline"}, 5).model == model
    assert FAMILY.build({**point, "regime": "exact"}, 5).model == model
    assert len({str(FAMILY.build(point, seed).model) for seed in range(10)}) > 5


def test_everything_that_nothing_takes_is_returned() -> None:
    point = complete(FAMILY.axes, {"steps": 8})
    for seed in range(20):
        model = FAMILY.build(point, seed).model
        taken = {name for node in model.nodes for name in node.inputs}
        assert not taken.intersection(model.outputs)
        assert model.nodes[-1].outputs[0] in model.outputs


@pytest.mark.parametrize("start", ["tokens", "matrix", "image", "vector"])
@pytest.mark.parametrize("dims", ["static", "batch", "all"])
def test_steps_know_the_shapes_of_their_results(start: str, dims: str) -> None:
    """ONNX Runtime's outputs have the shapes that the next step relies on."""
    checked = 0
    for name in STEPS:
        point = dict(complete(FAMILY.axes, {"start": start, "dims": dims}))
        if not next(axis for axis in FAMILY.axes if axis.name == "focus").allowed(point, name):
            continue
        for seed in range(3):
            draft = Drafting(18, dims=dims)
            wire = _last(draft, name, start, seed)
            if wire is None:
                continue
            draft.outputs = [wire.name]
            _hold(draft, wire)
            checked += 1
    assert checked > 60


def _last(draft: Drafting, name: str, start: str, seed: int) -> Wire | None:
    shape = {
        "tokens": (draft.batch, draft.length, 8),
        "matrix": (draft.batch, 8),
        "image": (draft.batch, 4, 6, 6),
        "vector": (8,),
    }[start]
    return STEPS[name][1](draft, Wire(draft.data("x", shape), shape), Random(seed))


def _hold(draft: Drafting, wire: Wire) -> None:
    case = OnnxCase("onnx-graph", draft.model(), bindings_of(draft))
    session = onnxruntime.InferenceSession(
        model_proto(case.model, constants(case)).SerializeToString()
    )
    for at, binding in enumerate(case.bindings):
        values = arrays(case, at)
        feeds = {each.name: values[each.name] for each in case.model.inputs}
        result = np.asarray(session.run(None, feeds)[0])
        assert result.shape == tuple(evaluate(dim, binding) for dim in wire.shape)
