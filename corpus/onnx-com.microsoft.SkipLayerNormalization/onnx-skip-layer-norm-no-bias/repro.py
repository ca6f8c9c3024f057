"""SkipLayerNormalization of ONNX Runtime is not supported without beta and bias

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
        helper.make_node(
                'SkipLayerNormalization',
                ['x', 'skip', 'gamma'],
                ['y'],
                domain='com.microsoft',
            ),
    ],
    "graph",
    [
        helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 2, 4]),
        helper.make_tensor_value_info('skip', TensorProto.FLOAT, [1, 2, 4]),
    ],
    [
        onnx.ValueInfoProto(name='y'),
    ],
    [
        numpy_helper.from_array(np.array([1.0, 1.0, 1.0, 1.0], 'float32'), 'gamma'),
    ],
)
model = helper.make_model(
    graph,
    opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)],
    ir_version=8,
)
inputs = {
    'x': np.array([[[1.2255859375, -0.59765625, 1.3955078125, 0.81005859375], [1.39013671875, -1.6669921875, 0.873046875, -0.91162109375]]], 'float32'),
    'skip': np.array([[[-0.29638671875, -1.80322265625, -1.63134765625, 0.46044921875], [-0.95068359375, -0.421875, -0.4580078125, -1.49951171875]]], 'float32'),
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
