"""GRU of ONNX is not supported

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
        helper.make_node('GRU', ['x0', 'c0', 'c1'], ['v0'], hidden_size=2),
    ],
    "graph",
    [
        helper.make_tensor_value_info('x0', TensorProto.FLOAT, [2, 1, 3]),
    ],
    [
        onnx.ValueInfoProto(name='v0'),
    ],
    [
        numpy_helper.from_array(np.array([[[1.740234375, -0.73583984375, 0.0771484375], [0.07080078125, -1.783203125, -0.1865234375], [1.0966796875, -0.84814453125, 0.13232421875], [0.60595703125, 1.5029296875, -0.61669921875], [1.76123046875, 1.63427734375, 1.32763671875], [-1.47314453125, 0.50634765625, 1.744140625]]], 'float32'), 'c0'),
        numpy_helper.from_array(np.array([[[-0.00732421875, 1.79296875], [-0.14306640625, 0.88671875], [0.498046875, -0.67626953125], [1.849609375, 1.9140625], [-1.6845703125, -1.45703125], [-0.19921875, 0.31396484375]]], 'float32'), 'c1'),
    ],
)
model = helper.make_model(
    graph,
    opset_imports=[helper.make_opsetid("", 20)],
    ir_version=9,
)
inputs = {
    'x0': np.array([[[0.716796875, 1.4384765625, 1.24853515625]], [[0.11669921875, 1.62158203125, 0.388671875]]], 'float32'),
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
