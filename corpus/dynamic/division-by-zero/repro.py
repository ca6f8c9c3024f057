"""floor_divide of integers by 0 ends the process

Exits with 1 while the bug is there and with 0 once it is gone,
and with 2 where it is ended by a signal that says nothing of it. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import signal
import subprocess
import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import relax as R


def program():
    x = relax.Var("x", R.Tensor((2,), "int32"))
    z = relax.Var("z", R.Tensor((2,), "int32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, z]):
        with bb.dataflow():
            y = bb.emit(relax.op.floor_divide(x, z))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


def main():
    mod = program()
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
    x = np.array([7, 3], "int32")
    z = np.array([2, 0], "int32")
    vm["main"](*map(tvm.runtime.tensor, (x, z)))


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
