"""Range to an ONNX size makes a symbol that is not the size, and the sum is left

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
        helper.make_node('Shape', ['x'], ['s'], end=2, start=1),
        helper.make_node('Squeeze', ['s'], ['q']),
        helper.make_node('Range', ['zero', 'q', 'one'], ['r']),
        helper.make_node('Cast', ['r'], ['c'], to=1),
        helper.make_node('Add', ['x', 'c'], ['y']),
    ],
    "graph",
    [
        helper.make_tensor_value_info('x', TensorProto.FLOAT, [2, 'n']),
    ],
    [
        onnx.ValueInfoProto(name='y'),
    ],
    [
        numpy_helper.from_array(np.array(0, 'int64'), 'zero'),
        numpy_helper.from_array(np.array(1, 'int64'), 'one'),
    ],
)
model = helper.make_model(
    graph,
    opset_imports=[helper.make_opsetid("", 20)],
    ir_version=9,
)
inputs = {
    'x': np.array([[1.2255859375, -0.59765625], [1.3955078125, 0.81005859375]], 'float32'),
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
