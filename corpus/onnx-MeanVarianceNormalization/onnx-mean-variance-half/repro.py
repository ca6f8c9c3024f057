"""MeanVarianceNormalization of ONNX float16 data fails

This script needs tvm, numpy and onnx. It exits with 1 while the bug is there and with 0
once it is gone.
Seen with apache-tvm 0.27.0.post1.
"""

import sys

import numpy as np
import onnx
import tvm
from onnx import TensorProto, helper
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

graph = helper.make_graph(
    [
        helper.make_node('MeanVarianceNormalization', ['x'], ['y']),
    ],
    "graph",
    [
        helper.make_tensor_value_info('x', TensorProto.FLOAT16, [1, 2, 1, 2]),
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
    'x': np.array([[[[1.2255859375, -0.59765625]], [[1.3955078125, 0.81005859375]]]], 'float16'),
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
