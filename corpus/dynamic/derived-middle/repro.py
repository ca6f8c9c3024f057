"""a program with 2048*m and m//5 - 1 elements in its middle compiles and is right

Exits with 1 while the bug is there and with 0 once it is gone. Gone with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import sys

import numpy as np
import tvm
from tvm import relax, tirx
from tvm.script import relax as R


def program():
    m = tirx.Var("m", "int64")
    x = relax.Var("x", R.Tensor((1, 2, m), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            up = bb.emit(relax.op.repeat(x, axis=2, repeats=2048))
            y = bb.emit(relax.op.nn.relu(up))
            cut = bb.emit(
                relax.op.strided_slice(
                    x, axes=[2], begin=[0], end=[tirx.floordiv(m, 5) - 1], strides=[1]
                )
            )
            w = bb.emit(relax.op.nn.relu(cut))
            outputs = [bb.emit_output(y), bb.emit_output(w)]
        bb.emit_func_output(relax.Tuple(outputs))
    return bb.get()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
# m = 10
x = np.array(
    [
        [
            [2510, -1224, 2858, 1659, 2847, -3414, 1788, -1867, 220, 3685],
            [1683, -2294, 2019, 40, 2884, 1898, -3990, 448, -556, -1106],
        ]
    ],
    "float32",
)
x /= 2048
# Compared is output 0 of 2.
result = vm["main"](tvm.runtime.tensor(x))
found = result[0].numpy()
if (found.shape, str(found.dtype)) != ((1, 2, 20480), "float32"):
    print("expected:", ((1, 2, 20480), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = np.repeat(
    np.array(
        [
            [
                [2510, 0, 2858, 1659, 2847, 0, 1788, 0, 220, 3685],
                [1683, 0, 2019, 40, 2884, 1898, 0, 448, 0, 0],
            ]
        ],
        "float64",
    ) / 2048,
    2048,
    axis=-1,
)
# All of it can be represented exactly, so that nothing is rounded.
bound = 0
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
