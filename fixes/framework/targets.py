"""The target that a program is lowered for."""

import tvm

from relaxcheck.fixes.framework.patch import NewFile

UPSTREAM = NewFile("relax/transform/legalize_ops/targets.py")


def on_gpu() -> bool:
    """True if the target in scope is a GPU; without one, a CPU is meant."""
    target = tvm.target.Target.current(allow_none=True)
    return target is not None and "gpu" in target.keys
