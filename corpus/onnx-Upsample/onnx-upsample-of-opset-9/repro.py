"""Upsample of ONNX's opset 9 fails, the scales of which are an input

This script needs tvm, numpy and onnx. It exits with 1 while the bug is there and with 0
once it is gone.
Seen with apache-tvm 0.27.0.post1.
"""

import sys

import numpy as np
import onnx
import tvm
from onnx import TensorProto, helper, numpy_helper
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

graph = helper.make_graph(
    [
        helper.make_node('Upsample', ['x', 'scales'], ['y']),
    ],
    "graph",
    [
        helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 1, 1, 2]),
    ],
    [
        onnx.ValueInfoProto(name='y'),
    ],
    [
        numpy_helper.from_array(np.array([1.0, 1.0, 1.0, 2.0], 'float32'), 'scales'),
    ],
)
model = helper.make_model(
    graph,
    opset_imports=[helper.make_opsetid("", 9)],
    ir_version=4,
)
inputs = {
    'x': np.array([[[[1.0, 2.0]]]], 'float32'),
}


def compiled():
    module = from_onnx(model)
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    executable = relax.build(module, target)
    main = relax.VirtualMachine(executable, tvm.cpu())["main"]
    arguments = [tvm.runtime.tensor(array) for array in inputs.values()]
    result = main(*arguments)
    return [result.numpy()] if hasattr(result, "numpy") else [each.numpy() for each in result]


try:
    compiled()
except Exception as error:
    print(f"{type(error).__name__}: {error}")
    sys.exit(1)
sys.exit(0)
