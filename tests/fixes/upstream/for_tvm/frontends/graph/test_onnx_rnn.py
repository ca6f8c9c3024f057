"""LSTM, GRU and RNN of ONNX models, against ONNX Runtime."""

import numpy as np
import onnxruntime
import pytest
import tvm.testing
from onnx import TensorProto, helper, numpy_helper
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def make_model(operator, shape):
    """A bidirectional node with lengths, of 2 features and 3 hidden units."""
    generator = np.random.default_rng(0)
    rows = 3 * GATES[operator]
    constants = [
        numpy_helper.from_array(generator.standard_normal(dims).astype("float32"), name)
        for name, dims in (("W", (2, rows, 2)), ("R", (2, rows, 3)), ("B", (2, 2 * rows)))
    ]
    outputs = ["Y", "Y_h", "Y_c"] if operator == "LSTM" else ["Y", "Y_h"]
    node = helper.make_node(
        operator,
        ["X", "W", "R", "B", "lengths"],
        outputs,
        hidden_size=3,
        direction="bidirectional",
    )
    graph = helper.make_graph(
        [node],
        operator,
        [
            helper.make_tensor_value_info("X", TensorProto.FLOAT, shape),
            helper.make_tensor_value_info("lengths", TensorProto.INT32, shape[1:2]),
        ],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * (4 - (name != "Y")))
            for name in outputs
        ],
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


def verify(model, *inputs):
    executable = relax.build(from_onnx(model), tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    for data, lengths in inputs:
        result = machine["main"](tvm.runtime.tensor(data), tvm.runtime.tensor(lengths))
        expected = session.run(None, {"X": data, "lengths": lengths})
        for actual, want in zip(result, expected, strict=True):
            tvm.testing.assert_allclose(actual.numpy(), want, rtol=1e-5, atol=1e-5)


def sequences(length, batch):
    generator = np.random.default_rng([length, batch])
    data = generator.standard_normal((length, batch, 2)).astype("float32")
    return data, generator.integers(1, length + 1, batch).astype("int32")


@pytest.mark.parametrize("operator", GATES)
def test_against_onnxruntime(operator):
    verify(make_model(operator, [4, 3, 2]), sequences(4, 3))


def test_symbolic():
    model = make_model("LSTM", ["length", "batch", 2])
    verify(model, sequences(1, 1), sequences(5, 4))


def test_an_error_names_operator_and_attribute():
    model = make_model("GRU", [4, 3, 2])
    model.graph.node[0].attribute.append(helper.make_attribute("clip", -1.0))
    with pytest.raises(ValueError, match=r"GRU is invalid with clip=-1\.0"):
        from_onnx(model)


if __name__ == "__main__":
    tvm.testing.main()
