"""ConvertLayout ends the process by a division by zero on a stack of numbers

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
    x0 = relax.Var("x0", R.Tensor((), "float32"))
    x1 = relax.Var("x1", R.Tensor((), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x0, x1]):
        with bb.dataflow():
            n0_0 = bb.emit(relax.op.stack([x0, x1]))
            output = bb.emit_output(n0_0)
        bb.emit_func_output(output)
    return bb.get()


def main():
    mod = program()
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    with target:
        mod = relax.transform.ConvertLayout({})(mod)
    relax.build(mod, target)


if __name__ == "__main__":
    if sys.argv[1:] == ["main"]:
        main()
        sys.exit()
    child = subprocess.run([sys.executable, __file__, "main"])
    if child.returncode < 0:
        print(f"ended by {signal.Signals(-child.returncode).name}")
    if child.returncode == -signal.SIGFPE:
        sys.exit(1)
    # Another signal tells nothing (SIGKILL: the machine is short of memory); an exception is fine.
    sys.exit(2 if child.returncode < 0 else 0)
