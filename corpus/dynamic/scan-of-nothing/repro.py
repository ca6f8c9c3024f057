"""cumsum over an axis that is empty at run time ends the process

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


def program():
    m = tirx.Var("m", "int64")
    n = tirx.Var("n", "int64")
    x = relax.Var("x", R.Tensor((2, m, n), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit(relax.op.cumsum(x, axis=1))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


def main():
    mod = program()
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
    # m = 2, n = 3
    x = np.array(
        [[[2510, -1224, 2858], [1659, 2847, -3414]], [[1788, -1867, 220], [3685, 1683, -2294]]],
        "float32",
    )
    x /= 2048
    vm["main"](tvm.runtime.tensor(x))
    # m = 0, n = 1
    x = np.zeros((2, 0, 1), "float32")
    vm["main"](tvm.runtime.tensor(x))


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
