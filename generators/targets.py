"""The targets that programs may be compiled for: their code generators in TVM, as data.

Every one of them generates code on any machine. ``compilers`` are the programs of which any
compiles that code, ``device`` is TVM's name of the device that runs it. Whether a machine has them,
``harness.native.toolchain`` and the workers find out.
"""

from dataclasses import dataclass

LLVM = "llvm"
"""The target of a case that names none."""


@dataclass(frozen=True, slots=True)
class Target:
    """A code generator of TVM.

    ``language`` is that of the code. ``kernels``: it runs on a GPU, and the target's default
    pipeline schedules it. ``fuses``: TVM has a default pipeline for it. ``needed``: nothing of the
    target can be tried without one of the ``compilers``; otherwise code is generated, and is
    compiled and run as far as this machine can. ``device`` is "" where relaxcheck cannot run it.
    ``packages`` of PyPI check or run the code without a device of its own; ``checker`` is the
    compiler among them, in words. ``arch`` is the architecture where no device tells another.
    """

    name: str
    language: str
    compilers: tuple[str, ...] = ()
    device: str = ""
    kernels: bool = False
    fuses: bool = True
    needed: bool = False
    packages: tuple[str, ...] = ()
    checker: str = ""
    arch: str = ""


_C_COMPILERS = ("g++", "gcc", "clang++", "clang", "c++", "cc")
"""The C compilers that TVM looks for, in its order."""

TARGETS: dict[str, Target] = {
    each.name: each
    for each in (
        Target(LLVM, "machine code", device="cpu"),
        Target("c", "C", _C_COMPILERS, device="cpu", fuses=False, needed=True),
        Target(
            "cuda",
            "CUDA C++",
            ("nvcc",),
            device="cuda",
            kernels=True,
            arch="sm_80",
            packages=("cuda-bindings", "nvidia-cuda-nvrtc"),
        ),
        Target(
            "opencl",
            "OpenCL C",
            device="opencl",
            kernels=True,
            packages=("pyopencl",),
            checker="the compiler of the OpenCL device",
        ),
        Target("metal", "Metal Shading Language", kernels=True),
        Target("webgpu", "WGSL", kernels=True, packages=("wgpu",)),
    )
}
"""By name, the default first."""
