"""The target of everything that is compiled here."""

from typing import Any

import tvm

from relaxcheck.generators.targets import LLVM, TARGETS


def target(opt_level: int, name: str = LLVM) -> tvm.target.Target:
    """The target called ``name``; code of the CPU has LLVM's optimisation level ``opt_level``.

    TVM's default level is 3. C code has no level of its own: its compiler is given that
    (``harness.native.c_code``).
    """
    cpu: dict[str, Any] = {"kind": LLVM, "opt-level": opt_level}
    known = TARGETS[name]
    if name == LLVM:
        return tvm.target.Target(cpu)
    if not known.kernels:
        return tvm.target.Target({"kind": name})
    architecture = {"arch": known.arch} if known.arch else {}
    return tvm.target.Target({"kind": name, **architecture}, tvm.target.Target(cpu))
