"""Celu of ONNX is not supported

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
        helper.make_node('Celu', ['x0'], ['v0'], alpha=0.699999988079071),
    ],
    "graph",
    [
        helper.make_tensor_value_info('x0', TensorProto.FLOAT, [2, 8]),
    ],
    [
        onnx.ValueInfoProto(name='v0'),
    ],
)
model = helper.make_model(
    graph,
    opset_imports=[helper.make_opsetid("", 20)],
    ir_version=9,
)
inputs = {
    'x0': np.array([[0.716796875, 1.4384765625, 1.24853515625, 0.11669921875, 1.62158203125, 0.388671875, 0.6337890625, -0.35498046875], [1.9091796875, -0.97607421875, 0.876953125, -0.1669921875, -1.94921875, -0.93896484375, 1.6962890625, 0.1474609375]], 'float32'),
}


def compiled():
    module = from_onnx(model)
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    passes = relax.get_default_pipeline(target)
    executable = relax.build(module, target, relax_pipeline=passes)
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
