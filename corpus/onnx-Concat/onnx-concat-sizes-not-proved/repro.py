"""Concat of ONNX tensors loses its shape where sizes are not proved equal

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
        helper.make_node('MaxPool', ['x'], ['half'], kernel_shape=[2], strides=[2]),
        helper.make_node('MaxPool', ['half'], ['quarter'], kernel_shape=[2], strides=[2]),
        helper.make_node('Unsqueeze', ['quarter', 'behind'], ['column']),
        helper.make_node('Concat', ['column', 'column'], ['pairs'], axis=3),
        helper.make_node('Reshape', ['pairs', 'shape'], ['twice']),
        helper.make_node('Concat', ['twice', 'half'], ['both'], axis=1),
        helper.make_node('Neg', ['both'], ['y']),
    ],
    "graph",
    [
        helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 2, 'n']),
    ],
    [
        onnx.ValueInfoProto(name='y'),
    ],
    [
        numpy_helper.from_array(np.array([3], 'int64'), 'behind'),
        numpy_helper.from_array(np.array([1, 2, -1], 'int64'), 'shape'),
    ],
)
model = helper.make_model(
    graph,
    opset_imports=[helper.make_opsetid("", 20)],
    ir_version=9,
)
inputs = {
    'x': np.array([[[1.2255859375, -0.59765625, 1.3955078125, 0.81005859375, 1.39013671875, -1.6669921875, 0.873046875, -0.91162109375], [0.107421875, 1.79931640625, 0.82177734375, -1.1201171875, 0.98583984375, 0.01953125, 1.408203125, 0.9267578125]]], 'float32'),
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
