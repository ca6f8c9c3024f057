"""The target of everything that is compiled here."""

from typing import Any

import tvm

from relaxcheck.generators.targets import LLVM, TARGETS, Target
from relaxcheck.harness.native import opencl
from relaxcheck.harness.native.devices import device


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
    options = {"kind": name, **_architecture(known), **_memory(known)}
    return tvm.target.Target(options, tvm.target.Target(cpu))


def _memory(known: Target) -> dict[str, Any]:
    """The option by which kernels share the CPU's memory, where ``pyopencl`` launches them."""
    return opencl.HOST_MEMORY if launches(known) else {}


def launches(known: Target) -> bool:
    """True if kernels of ``known`` are run without a device of TVM's runtime, by ``pyopencl``."""
    if opencl.PACKAGE not in known.packages or device(known.device) is not None:
        return False
    return opencl.queue() is not None


def _architecture(known: Target) -> dict[str, str]:
    """The architecture of the device that is here, else that of ``known``; none where it has none.

    TVM gives the version of a device as "9.0".
    """
    if not known.arch:
        return {}
    used = device(known.device)
    own = known.arch if used is None else f"sm_{str(used.compute_version).replace('.', '')}"
    return {"arch": own}
