"""nn.max_pool1d with a window of 3 accepts an input of 2 elements at run time

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


def says_what_is_wrong(error):
    """True if error names the parameter and the dimension that do not fit."""
    said = str(error)
    return names(said, "x") and names(said, "dimension 2", "dimension 2s", "shape[2]", "shape[2]s")


def program():
    n = tirx.Var("n", "int64")
    x = relax.Var("x", R.Tensor((1, 1, n), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit(relax.op.nn.max_pool1d(x, pool_size=[3]))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


try:
    mod = program()
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
    # n = 2
    x = np.array([[[2510, -1224]]], "float32") / 2048
    vm["main"](tvm.runtime.tensor(x))
except Exception as error:
    print(f"{type(error).__name__}: {error}")
    sys.exit(0 if says_what_is_wrong(error) else 1)
print("TVM compiles and runs this program, which is invalid")
sys.exit(1)
