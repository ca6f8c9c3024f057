"""StaticPlanBlockMemory makes the branches of a conditional share storage: the process ends

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
    bb = relax.BlockBuilder()
    x = relax.Var("x", R.Tensor((4,), "float32"))
    c = relax.Var("c", R.Tensor((), "bool"))
    with bb.function("main", [x, c]):
        bb._begin_binding_block()
        y_true_a = bb.emit(relax.op.exp(x))
        y_true_b = bb.emit(relax.op.negative(y_true_a))
        y_true_y = bb.emit(relax.op.exp(y_true_b))
        y_true = relax.SeqExpr([bb._end_block()], y_true_y)
        bb._begin_binding_block()
        y_false_d = bb.emit(relax.op.negative(x))
        y_false_e = bb.emit(relax.op.exp(y_false_d))
        y_false_y = bb.emit(relax.op.negative(y_false_e))
        y_false = relax.SeqExpr([bb._end_block()], y_false_y)
        y = bb.emit(relax.If(c, y_true, y_false))
        bb.emit_func_output(y)
    return bb.get()


def main():
    mod = program()
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
    x = np.array([2878, 1846, 4022, -24], "float32") / 2048
    c = np.array(False, "bool")
    vm["main"](*map(tvm.runtime.tensor, (x, c)))


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
