"""memory.view accepts an offset of -4 bytes and reads in front of its tensor

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
    if isinstance(error, (TypeError, ValueError)) and names(words, "relative_byte_offset", "shape"):
        return True
    return names(
        words,
        "relative_byte_offset",
        "relative_byte_offsets",
        "offset",
        "offsets",
        "byte",
        "bytes",
        "bounds",
        "boundss",
        "size",
        "sizes",
    )


def program():
    x = relax.Var("x", R.Tensor((4,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit(
                relax.op.memory.view(x, relative_byte_offset=-4, shape=relax.ShapeExpr([1]))
            )
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


try:
    mod = program()
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
except Exception as error:
    print(f"{type(error).__name__}: {error}")
    sys.exit(0 if says_what_is_wrong(error) else 1)
x = np.array([2510, -1224, 2858, 1659], "float32") / 2048
vm["main"](tvm.runtime.tensor(x))
print("TVM compiles and runs this program, which is invalid")
sys.exit(1)
