"""Models with LSTM, GRU and RNN: pipelines, inputs of unknown shape, layers, branches."""

import numpy as np
import pytest
import tvm
from onnx import TensorProto, helper, numpy_helper
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.frontends.onnx.converting import Converter
from relaxcheck.fixes.frontends.onnx.recurrent import importing as onnx_rnn
from tests.fixes.recurrent_models import arrays, built, imported, model, onnxruntime_of, tvm_of
from tests.fixes.recurrent_reference import Node, within

# The importer warns of models that ONNX's checker does not like.
pytestmark = [
    pytest.mark.usefixtures("importing"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


@pytest.mark.parametrize("pipeline", ["fused", "of the fixes", "static"])
def test_pipelines(pipeline: str) -> None:
    feeds = arrays("LSTM", 4, 3, "B", "P", "initial_h", lengths=(2, 4, 1))
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    shapes = {name: array.shape for name, array in feeds.items() if name in ("X", "initial_h")}
    module = imported(model("LSTM", feeds, shapes=shapes if pipeline == "static" else None))
    chosen = fixes.pipeline(target) if pipeline == "of the fixes" else None
    run = built(module, chosen or relax.get_default_pipeline(target))
    within(run(feeds), Node("LSTM", feeds).outputs())


@pytest.mark.parametrize("rank", [-1, 3])
def test_inputs_of_unknown_shape(rank: int) -> None:
    """Other nodes may produce them; not every importer accepts a model's input without a shape."""
    feeds = arrays("LSTM", 4, 3, "initial_h", lengths=(2, 4, 1))
    ranks = {"X": rank, "sequence_lens": min(rank, 1), "initial_h": rank}
    variables = {
        name: relax.Var(name, tvm_api.unshaped_type(known_rank, str(feeds[name].dtype)))
        for name, known_rank in ranks.items()
    }
    weights = {name: tvm_api.const(feeds[name]) for name in ("W", "R")}
    inputs = {**variables, **weights, "B": None}
    builder = relax.BlockBuilder()
    with builder.function("main", list(variables.values())):
        with builder.dataflow():
            outputs = Converter("LSTM", onnx_rnn.convert).get_converter(14)(
                builder,
                [inputs[name] for name in ("X", "W", "R", "B", "sequence_lens", "initial_h")],
                {"tvm_custom": {"num_outputs": 3}},
                None,
            )
            result = builder.emit_output(outputs)
        builder.emit_func_output(result)
    run = built(builder.get())
    within(run(feeds), Node("LSTM", feeds).outputs())
    with pytest.raises(ValueError, match="LSTM: dimension 1 of initial_h"):
        run({**feeds, "initial_h": feeds["initial_h"][:, :2]})


def test_weights_as_parameters() -> None:
    feeds = arrays("LSTM", 4, 3, "B", "initial_h", lengths=(2, 4, 1))
    module = imported(model("LSTM", feeds), keep_params_in_input=True)
    assert len(module["main"].params) == 6
    within(built(module)(feeds), Node("LSTM", feeds).outputs())


@pytest.mark.parametrize(
    ("outputs", "kept"), [(["Y"], [0]), (["", "Y_h"], [1]), (["Y", "", "Y_c"], [0, 2])]
)
def test_outputs_that_are_left_out(outputs: list[str], kept: list[int]) -> None:
    feeds = arrays("LSTM", 2, 1, "B")
    result = tvm_of(model("LSTM", feeds, outputs=outputs))(feeds)
    expected = Node("LSTM", feeds).outputs()
    within(result, [expected[number] for number in kept])


def test_two_layers_share_a_builder() -> None:
    """One node takes the output of another, with an axis squeezed."""
    first = arrays("GRU", 3, 2)
    second = {"W": np.concatenate([first["W"], first["W"][..., :1]], axis=2), "R": first["R"]}
    nodes = [
        helper.make_node("GRU", ["X", "W", "R"], ["Y"], hidden_size=3),
        helper.make_node("Squeeze", ["Y", "axes"], ["Z"]),
        helper.make_node("GRU", ["Z", "W2", "R"], ["", "Y_h"], hidden_size=3, direction="reverse"),
    ]
    constants = {"W": first["W"], "R": first["R"], "W2": second["W"], "axes": np.array([1])}
    graph = helper.make_graph(
        nodes,
        "layers",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, ["length", "batch", 2])],
        [helper.make_tensor_value_info("Y_h", TensorProto.FLOAT, [1, "batch", 3])],
        [numpy_helper.from_array(constant, name) for name, constant in constants.items()],
    )
    result = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    (last,) = tvm_of(result)(first)
    np.testing.assert_allclose(last, onnxruntime_of(result)(first)[0], rtol=0, atol=1e-5)


def test_a_branch_takes_the_only_output() -> None:
    """Within a branch the importer does not unpack a tuple."""
    feeds = arrays("LSTM", 3, 2)
    branches = {}
    for name, direction in (("then_branch", "forward"), ("else_branch", "reverse")):
        node = helper.make_node(
            "LSTM", ["X", "W", "R"], [f"{name}_Y"], hidden_size=3, direction=direction
        )
        output = helper.make_tensor_value_info(f"{name}_Y", TensorProto.FLOAT, [3, 1, 2, 3])
        branches[name] = helper.make_graph([node], name, [], [output])
    graph = helper.make_graph(
        [helper.make_node("If", ["condition"], ["Y"], **branches)],
        "branches",
        [
            helper.make_tensor_value_info("condition", TensorProto.BOOL, []),
            helper.make_tensor_value_info("X", TensorProto.FLOAT, [3, 2, 2]),
        ],
        [helper.make_tensor_value_info("Y", TensorProto.FLOAT, [3, 1, 2, 3])],
        [numpy_helper.from_array(feeds[name], name) for name in ("W", "R")],
    )
    result = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    run = tvm_of(result)
    for condition, direction in ((True, "forward"), (False, "reverse")):
        expected = Node("LSTM", feeds, direction).outputs()
        within(run({**feeds, "condition": np.array(condition)}), expected[:1])
