"""nn.conv2d accepts a dilation of -1

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import hashlib
import math
import re
import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import relax as R


def drawn(key, shape, dtype):
    """Multiples of 1/2048 from -2 up to 2, the same on every machine."""
    seed = np.frombuffer(hashlib.sha256(key.encode()).digest()[:16], "<u8")
    words = np.random.Philox(key=seed).random_raw(math.prod(shape))
    values = ((words >> 40) % 8192) / 2048 - 2
    return values.astype(dtype).reshape(shape)


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
        words,
        "data",
        "weight",
        "data_layout",
        "dilation",
        "groups",
        "kernel_layout",
        "padding",
        "strides",
    ):
        return True
    return names(words, "dilation", "dilations")


def program():
    data = relax.Var("data", R.Tensor((2, 2, 5, 4), "float32"))
    weight = relax.Var("weight", R.Tensor((8, 2, 2, 3), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [data, weight]):
        with bb.dataflow():
            convolved = bb.emit(relax.op.nn.conv2d(data, weight, dilation=[-1, 1]))
            output = bb.emit_output(convolved)
        bb.emit_func_output(output)
    return bb.get()


try:
    mod = program()
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
except Exception as error:
    print(f"{type(error).__name__}: {error}")
    sys.exit(0 if says_what_is_wrong(error) else 1)
data = drawn("14264021/data/0", (2, 2, 5, 4), "float32")
weight = drawn("14264021/weight/0", (8, 2, 2, 3), "float32")
vm["main"](*map(tvm.runtime.tensor, (data, weight)))
print("TVM compiles and runs this program, which is invalid")
sys.exit(1)
