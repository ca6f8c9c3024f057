"""call_inplace_packed loses its result: memory planning gives it to a later tensor

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import relax as R


def program():
    x0 = relax.Var("x0", R.Tensor((1,), "float32"))
    x1 = relax.Var("x1", R.Tensor((1,), "float32"))
    x2 = relax.Var("x2", R.Tensor((1,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x0, x1, x2]):
        with bb.dataflow():
            n0_0 = bb.emit(relax.op.maximum(x0, x2))
            @tvm.register_global_func("test.inplace.difference_0", override=True)
            def packed(x, y):
                values = (lambda x, y: [np.asarray(np.subtract(x, y))])(x.numpy(), y.numpy())
                x.copyfrom(values[0])
                return x
            n0_1 = bb.emit(
                relax.op.call_inplace_packed(
                    "test.inplace.difference_0",
                    n0_0,
                    x1,
                    inplace_indices=[0],
                    **{
                        "sinfo_args" if hasattr(relax, "TensorStructInfo") else "ty_args": [
                            R.Tensor((1,), "float32")
                        ]
                    },
                )
            )
            n0_2 = bb.emit(relax.op.add(x0, x0))
            n0_3 = bb.emit(relax.op.subtract(n0_1, n0_2))
            output = bb.emit_output(n0_3)
        bb.emit_func_output(output)
    return bb.get()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
x0 = np.array([1.0], "float32")
x1 = np.array([1.0], "float32")
x2 = np.array([1.0], "float32")
result = vm["main"](*map(tvm.runtime.tensor, (x0, x1, x2)))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((1,), "float32"):
    print("expected:", ((1,), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = np.array([-2.0], "float64")
# All of it can be represented exactly, so that nothing is rounded.
bound = 0
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
