"""Initializers of ONNX models: sparse ones, and weights whose names differ by a prefix."""

import numpy as np
import tvm
import tvm.testing
from onnx import helper, numpy_helper, parser
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

DATA = np.array([1, 2, 4], "float32")


def model_of(text):
    return parser.parse_model('<ir_version: 8, opset_import: ["" : 18]>' + text)


def run(module, *inputs):
    executable = relax.build(module, tvm.target.Target("llvm"))
    main = relax.VirtualMachine(executable, tvm.cpu())["main"]
    return main(*map(tvm.runtime.tensor, inputs)).numpy()


def test_a_sparse_one():
    model = model_of("f (float[3] x) => (float[3] y) { y = Add (x, w) }")
    values = numpy_helper.from_array(np.array([8], "float32"), "w")
    places = numpy_helper.from_array(np.array([1], "int64"), "places")
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [3]))
    tvm.testing.assert_allclose(run(from_onnx(model), DATA), [1, 10, 4])


def test_two_of_one_name():
    model = model_of("f (float[3] x) => (float[3] z) { y = Add (x, w) z = Mul (y, v) }")
    model.graph.node[1].input[1] = "onnx::w"
    for name, value in (("w", 2), ("onnx::w", 3)):
        held = np.full(3, value, "float32")
        model.graph.initializer.append(numpy_helper.from_array(held, name))
    module = from_onnx(model, keep_params_in_input=True)
    weights = [each.numpy() for each in module["main"].attrs["params"]]
    tvm.testing.assert_allclose(run(module, DATA, *weights), [9, 12, 18])


if __name__ == "__main__":
    tvm.testing.main()
