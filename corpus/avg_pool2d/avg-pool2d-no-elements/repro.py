"""nn.avg_pool2d accepts a pool_size of 0

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import re
import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import relax as R


def names(text, *terms):
    """True if text has one of terms as whole words, apart or together, in any case."""
    each = (r"[\W_]*".join(re.findall("[0-9A-Za-z]+", term)) for term in terms)
    return re.search(rf"(?i)(?<![0-9A-Za-z])(?:{'|'.join(each)})(?![0-9A-Za-z])", text)


def says_what_is_wrong(error):
    """True if error comes from a check that says in its own words what is invalid."""
    if isinstance(error, (AttributeError, LookupError, NameError)):
        return False
    condition = r"Check failed:.*?(?: is false:| vs\. .*?\) ?:|$)"
    printed = r"Op\(.*?level=\d+\)|R\.[\w.]+\([^)]*\)"
    words = re.sub(f"(?m){condition}|{printed}", "", str(error))
    if isinstance(error, (TypeError, ValueError)) and names(
        words, "x0", "dilation", "padding", "pool_size", "strides"
    ):
        return True
    return names(
        words,
        "pool_size",
        "pool_sizes",
        "pool size",
        "pool sizes",
        "window",
        "windows",
        "kernel",
        "kernels",
    )


def program():
    x0 = relax.Var("x0", R.Tensor((1, 1, 2, 2), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x0]):
        with bb.dataflow():
            n0_0 = bb.emit(relax.op.nn.avg_pool2d(x0, pool_size=[0, 0]))
            output = bb.emit_output(n0_0)
        bb.emit_func_output(output)
    return bb.get()


try:
    mod = program()
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
except Exception as error:
    print(f"{type(error).__name__}: {error}")
    sys.exit(0 if says_what_is_wrong(error) else 1)
x0 = np.array([[[[-3056, 3179], [-2096, -1810]]]], "float32") / 2048
vm["main"](tvm.runtime.tensor(x0))
print("TVM compiles and runs this program, which is invalid")
sys.exit(1)
