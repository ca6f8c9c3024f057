"""einsum ij->k ends the process: k is the label of no operand

Exits with 1 while the bug is there and with 0 once it is gone,
and with 2 where it is ended by a signal that says nothing of it. Seen with apache-tvm 0.27.0.post1.
Needs tvm.
"""

import signal
import subprocess
import sys

import tvm
from tvm import relax
from tvm.script import relax as R


def program():
    x = relax.Var("x", R.Tensor((2, 2), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit(relax.op.einsum([x], subscripts="ij->k"))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


def main():
    mod = program()
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
