"""nn.attention over tensors of unknown shape ends the process in type inference

Exits with 1 while the bug is there and with 0 once it is gone,
and with 2 where it is ended by a signal that says nothing of it. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import signal
import subprocess
import sys

import numpy as np
import tvm
from tvm import relax, tirx
from tvm.script import relax as R


def program(begin, end_, strides):
    m = tirx.Var("m", "int64")
    q_ = relax.Var("q", R.Tensor((1, m, 2, 4), "float32"))
    begin = relax.const(begin, "int64")
    end_ = relax.const(end_, "int64")
    strides = relax.const(strides, "int64")
    bb = relax.BlockBuilder()
    with bb.function("main", [q_]):
        with bb.dataflow():
            s = bb.emit(relax.op.dynamic_strided_slice(q_, begin, end_, strides))
            y = bb.emit(relax.op.nn.attention(s, s, s))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


def main():
    begin = np.full((4,), 0, "int64")
    end_ = np.array([1, 99, 99, 99], "int64")
    strides = np.full((4,), 1, "int64")
    mod = program(begin, end_, strides)
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    relax.build(mod, target)


if __name__ == "__main__":
    if sys.argv[1:] == ["main"]:
        main()
        sys.exit()
    child = subprocess.run([sys.executable, __file__, "main"])
    if child.returncode < 0:
        print(f"ended by {signal.Signals(-child.returncode).name}")
    if child.returncode == -signal.SIGSEGV:
        sys.exit(1)
    # Another signal tells nothing (SIGKILL: the machine is short of memory); an exception is fine.
    sys.exit(2 if child.returncode < 0 else 0)
