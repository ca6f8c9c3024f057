"""strided_slice from 0 to 2 by -1 gets a negative size and raises std::bad_alloc

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import re
import sys

import numpy as np
import tvm
from tvm import relax, tirx
from tvm.script import relax as R


def names(text, *terms):
    """True if text has one of terms as whole words, apart or together, in any case."""
    each = (r"[\W_]*".join(re.findall("[0-9A-Za-z]+", term)) for term in terms)
    return re.search(rf"(?i)(?<![0-9A-Za-z])(?:{'|'.join(each)})(?![0-9A-Za-z])", text)


def program():
    n = tirx.Var("n", "int64")
    x = relax.Var("x", R.Tensor((n,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            z = bb.emit(relax.op.strided_slice(x, axes=[0], begin=[0], end=[2], strides=[-1]))
            y = bb.emit(relax.op.nn.relu(z))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


try:
    mod = program()
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
    # n = 3
    x = np.array([2510, -1224, 2858], "float32") / 2048
    vm["main"](tvm.runtime.tensor(x))
    # n = 1
    x = np.array([2459], "float32") / 2048
    vm["main"](tvm.runtime.tensor(x))
except Exception as error:
    said = f"{type(error).__name__}: {error}"
    # An error that says what is not supported is none that says nothing.
    if not names(said, "strided_slice", "relu") or not names(
        said,
        "not supported",
        "not implemented",
        "unsupported",
        "NotImplementedError",
        "only support",
        "only supports",
        "cannot be lowered",
    ):
        raise
    print("refused clearly:", said)
    sys.exit(0)
