"""FuseOps puts a read behind the call_tir_inplace that overwrites the value

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import relax as R
from tvm.script import tirx as T


def program():
    x0 = relax.Var("x0", R.Tensor((1,), "float32"))
    x1 = relax.Var("x1", R.Tensor((1,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x0, x1]):
        with bb.dataflow():
            n0_0 = bb.emit(relax.op.maximum(x0, x1))
            n0_1 = bb.emit(relax.op.add(n0_0, n0_0))
            @T.prim_func(private=True, s_tir=True)
            def tir(x_handle: T.handle, result1_handle: T.handle):
                x = T.match_buffer(x_handle, (T.int64(1),), "float32")
                result1 = T.match_buffer(result1_handle, (), "float32")
                for i0 in T.grid(T.int64(1)):
                    with T.sblock("sum_result1"):
                        v0 = T.axis.remap("R", [i0])
                        with T.init():
                            result1[()] = T.float32(0)
                        result1[()] = result1[()] + x[v0]
                for i0 in T.grid(T.int64(1)):
                    with T.sblock("negative_x"):
                        v0 = T.axis.remap("S", [i0])
                        x[v0] = -x[v0]
            tir = bb.add_func(tir, "opposite_and_sum")
            n0_2_all = bb.emit(
                relax.op.call_tir_inplace(
                    tir, [n0_0], [0, -1], [R.Tensor((1,), "float32"), R.Tensor((), "float32")]
                )
            )
            n0_2 = bb.emit(relax.TupleGetItem(n0_2_all, 0))
            n0_4 = bb.emit(relax.op.add(n0_2, n0_1))
            output = bb.emit_output(n0_4)
        bb.emit_func_output(output)
    return bb.get()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(
    relax.build(mod, target, relax_pipeline=relax.get_default_pipeline(target)), tvm.cpu()
)
x0 = np.array([1.0], "float32")
x1 = np.array([1.0], "float32")
result = vm["main"](*map(tvm.runtime.tensor, (x0, x1)))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((1,), "float32"):
    print("expected:", ((1,), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = np.array([1.0], "float64")
# All of it can be represented exactly, so that nothing is rounded.
bound = 0
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
