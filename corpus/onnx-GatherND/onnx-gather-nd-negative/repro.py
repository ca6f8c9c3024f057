"""GatherND of ONNX reads out of bounds for negative indices, up to TVM 0.26

This script needs tvm, numpy, onnx and onnxruntime. It exits with 1 while the bug is there and with 0
once it is gone.
Seen with apache-tvm 0.26.0.
"""

import sys

import numpy as np
import onnx
import onnxruntime
import tvm
from onnx import TensorProto, helper
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

graph = helper.make_graph(
    [
        helper.make_node('GatherND', ['x', 'indices'], ['y']),
    ],
    "graph",
    [
        helper.make_tensor_value_info('x', TensorProto.FLOAT, [3]),
        helper.make_tensor_value_info('indices', TensorProto.INT64, [2, 1]),
    ],
    [
        onnx.ValueInfoProto(name='y'),
    ],
)
model = helper.make_model(
    graph,
    opset_imports=[helper.make_opsetid("", 13)],
    ir_version=7,
)
inputs = {
    'x': np.array([1.0, 2.0, 4.0], 'float32'),
    'indices': np.array([[-1], [0]], 'int64'),
}
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
expected = session.run(['y'], inputs)


def compiled():
    module = from_onnx(model)
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    executable = relax.build(module, target)
    main = relax.VirtualMachine(executable, tvm.cpu())["main"]
    arguments = [tvm.runtime.tensor(array) for array in inputs.values()]
    result = main(*arguments)
    return [result.numpy()] if hasattr(result, "numpy") else [each.numpy() for each in result]


wrong = False
for name, actual, wanted in zip(['y'], compiled(), expected):
    print(f"{name}: TVM {actual.dtype}{list(actual.shape)}\n{actual}")
    print(f"{name}: expected {wanted.dtype}{list(wanted.shape)}\n{wanted}")
    if actual.shape != wanted.shape or actual.dtype != wanted.dtype:
        wrong = True
    else:
        close = np.allclose(
            actual.astype("float64"), wanted.astype("float64"), 0, 0, equal_nan=True
        )
        wrong = wrong or not close
sys.exit(wrong)
