"""Attention of ONNX's opset 23 fails: it is taken for that of com.microsoft

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
        helper.make_node('Attention', ['q', 'k', 'v'], ['y']),
    ],
    "graph",
    [
        helper.make_tensor_value_info('q', TensorProto.FLOAT, [1, 1, 2, 2]),
        helper.make_tensor_value_info('k', TensorProto.FLOAT, [1, 1, 3, 2]),
        helper.make_tensor_value_info('v', TensorProto.FLOAT, [1, 1, 3, 2]),
    ],
    [
        onnx.ValueInfoProto(name='y'),
    ],
)
model = helper.make_model(
    graph,
    opset_imports=[helper.make_opsetid("", 23)],
    ir_version=11,
)
inputs = {
    'q': np.array([[[[1.5, 0.79052734375], [-0.7119140625, 1.37255859375]]]], 'float32'),
    'k': np.array([[[[-1.9189453125, -1.24267578125], [-1.6494140625, -0.98974609375], [-0.67724609375, -1.76806640625]]]], 'float32'),
    'v': np.array([[[[1.65087890625, -0.5458984375], [-1.51220703125, 1.73388671875], [1.3427734375, 1.939453125]]]], 'float32'),
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
