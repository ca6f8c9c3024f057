"""Concat of tensors with symbolic sizes in ONNX models."""

import numpy as np
import onnxruntime
import tvm.testing
from onnx import parser
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

MODEL = """<ir_version: 8, opset_import: ["" : 13]>
f (float[n, 2] x, float[m, 2] y) => (float[n, 4] z) {
    joined = Concat <axis = 1> (x, y)
    z = Softsign (joined)
}"""


def test_no_shape():
    model = parser.parse_model(MODEL)
    executable = relax.build(from_onnx(model), tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    for rows in (1, 3):
        x, y = (np.arange(2 * rows, dtype="float32").reshape(rows, 2) - each for each in (1, 2))
        (expected,) = session.run(None, {"x": x, "y": y})
        result = machine["main"](tvm.runtime.tensor(x), tvm.runtime.tensor(y))
        tvm.testing.assert_allclose(result.numpy(), expected)


if __name__ == "__main__":
    tvm.testing.main()
