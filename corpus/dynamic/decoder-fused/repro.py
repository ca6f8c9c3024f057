"""a decoder: conv1d, 2048 samples a frame, conv1d of stride 5, conv1d_transpose, fused: FuseTIR of
0.26 fails

Exits with 1 while the bug is there and with 0 once it is gone. Gone with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import base64
import hashlib
import math
import sys
import zlib

import numpy as np
import tvm
from tvm import relax, tirx
from tvm.script import relax as R


def drawn(key, shape, dtype):
    """Multiples of 1/2048 from -2 up to 2, the same on every machine."""
    seed = np.frombuffer(hashlib.sha256(key.encode()).digest()[:16], "<u8")
    words = np.random.Philox(key=seed).random_raw(math.prod(shape))
    values = ((words >> 40) % 8192) / 2048 - 2
    return values.astype(dtype).reshape(shape)


def program():
    m = tirx.Var("m", "int64")
    x0 = relax.Var("x0", R.Tensor((1, 3, m), "float32"))
    x1 = relax.Var("x1", R.Tensor((2, 3, 5), "float32"))
    x2 = relax.Var("x2", R.Tensor((2, 2, 7), "float32"))
    x3 = relax.Var("x3", R.Tensor((2, 1, 5), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x0, x1, x2, x3]):
        with bb.dataflow():
            n0_0 = bb.emit(relax.op.nn.conv1d(x0, x1, padding=[2, 2], strides=[1]))
            n0_1 = bb.emit(relax.op.expand_dims(n0_0, axis=[3]))
            n0_2 = bb.emit(relax.op.broadcast_to(n0_1, shape=relax.ShapeExpr([1, 2, m, 2048])))
            n0_3 = bb.emit(relax.op.reshape(n0_2, shape=relax.ShapeExpr([1, 2, 2048 * m])))
            n0_4 = bb.emit(relax.op.nn.conv1d(n0_3, x2, padding=[0, 0], strides=[5]))
            n0_5 = bb.emit(relax.op.nn.leakyrelu(n0_4, alpha=0.1))
            n0_6 = bb.emit(relax.op.nn.conv1d_transpose(n0_5, x3, strides=[5]))
            n0_7 = bb.emit(relax.op.tanh(n0_6))
            output = bb.emit_output(n0_7)
        bb.emit_func_output(output)
    return bb.get()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(
    relax.build(mod, target, relax_pipeline=relax.get_default_pipeline(target)), tvm.cpu()
)
# m = 2
x0 = drawn("4/x0/0", (1, 3, 2), "float32")
x1 = drawn("4/x1/0", (2, 3, 5), "float32")
x2 = drawn("4/x2/0", (2, 2, 7), "float32")
x3 = drawn("4/x3/0", (2, 1, 5), "float32")
result = vm["main"](*map(tvm.runtime.tensor, (x0, x1, x2, x3)))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((1, 1, 4090), "float32"):
    print("expected:", ((1, 1, 4090), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = np.frombuffer(
    zlib.decompress(
        base64.b85decode(
            "".join(
                [
                    "c-rmCKP$vx007{@pDRTs*>vU4H;^*Cb+H&O&LqV^>F^B<3InC?3mD`gn<5tF9VE)2ltEdf>l",
                    "Zh?-9lZIZ(y-L&-^q`R>yN|DI9JupAU{?Ay=92=`TOVjlRN6V<(Hnx6!4suN0b|=Xsvzd7kH",
                    "ap67X<=Xsvzd7kHap67X<=Xsvzd7kHap67X<=Xsvzd7kHap6C7h-97zW<Qpk09Q3{n%)N*9m",
                    "aA%U<s;^gs@?aS^>|yDTp#{Up?q1{>fBGEb?S3*s8kEP6W0&3$F*4R+G{JFX7T3idAj4(^E}",
                    "V<JkRqy&+|Ob^E}V<JkRqy&+|Ob^E}V<JkRqy&+|Ob^E}V<JkRqy&-1*$-Y>Q5lWh",
                ]
            )
        )
    ),
    "float64",
).reshape((1, 1, 4090)).copy()
# What rounding in the program's own dtypes may add up to, the largest of all elements.
bound = 0.000119
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
