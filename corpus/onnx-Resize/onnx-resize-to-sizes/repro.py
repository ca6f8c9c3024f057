"""Resize to sizes of which one is symbolic fails

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
        helper.make_node('Shape', ['x'], ['b'], end=1, start=0),
        helper.make_node('Concat', ['b', 'tail'], ['s'], axis=0),
        helper.make_node('Resize', ['x', '', '', 's'], ['y'], mode='linear'),
    ],
    "graph",
    [
        helper.make_tensor_value_info('x', TensorProto.FLOAT, ['n', 3, 4, 4]),
    ],
    [
        onnx.ValueInfoProto(name='y'),
    ],
    [
        numpy_helper.from_array(np.array([3, 8, 8], 'int64'), 'tail'),
    ],
)
model = helper.make_model(
    graph,
    opset_imports=[helper.make_opsetid("", 20)],
    ir_version=9,
)
inputs = {
    'x': np.array([[[[1.2255859375, -0.59765625, 1.3955078125, 0.81005859375], [1.39013671875, -1.6669921875, 0.873046875, -0.91162109375], [0.107421875, 1.79931640625, 0.82177734375, -1.1201171875], [0.98583984375, 0.01953125, 1.408203125, 0.9267578125]], [[-1.9482421875, 0.21875, -0.271484375, -0.5400390625], [0.68310546875, 0.1728515625, -0.2626953125, 1.4111328125], [-1.31884765625, 0.1025390625, -0.97412109375, 0.16162109375], [-1.0869140625, 1.58837890625, 1.21826171875, 1.423828125]], [[-0.87548828125, 0.82568359375, 1.96826171875, -1.94189453125], [1.67138671875, -1.06201171875, -1.734375, 0.95361328125], [1.93798828125, -0.841796875, 1.6328125, 0.73779296875], [0.5966796875, -0.02294921875, 1.80224609375, 1.73828125]]], [[[-0.50341796875, -0.9462890625, 0.75244140625, 0.11767578125], [-0.21484375, 0.6923828125, -1.76318359375, 0.0498046875], [1.78369140625, -0.1171875, 0.64306640625, -0.23095703125], [-0.6484375, -1.9453125, -0.75390625, -0.60986328125]], [[-1.7763671875, -1.56591796875, 1.212890625, 0.21533203125], [0.67529296875, 1.52734375, -0.4013671875, 0.3232421875], [0.720703125, 0.68017578125, -0.36962890625, -0.3916015625], [-0.65576171875, -1.41748046875, -1.53955078125, -0.0517578125]], [[-0.36572265625, -1.60888671875, 1.81396484375, 0.091796875], [-0.375, -0.4658203125, -1.64111328125, -0.6328125], [1.91162109375, 0.07861328125, -0.5830078125, -0.72314453125], [-0.80712890625, 1.77783203125, 1.80322265625, 0.82080078125]]]], 'float32'),
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
