"""The target of a case in a script: how to name it, to build for it and to load what was built."""

from relaxcheck.generators.core.case import target_of
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.targets import LLVM, TARGETS
from relaxcheck.harness.outcomes.outcome import Outcome

REFUSED_BY_C = "the C compiler refuses the generated code"
"""The start of the message where a C compiler finds an error in the code for target C."""
REFUSED_BY_NVCC = "nvcc refuses the generated code"


def target_text(case: Case) -> str:
    """An expression whose value is TVM's target."""
    known = TARGETS[target_of(case)]
    cpu = f'tvm.target.Target({{"kind": "llvm", "opt-level": {case.opt_level}}})'
    if known.name == LLVM:
        return cpu
    if not known.kernels:
        return f'tvm.target.Target("{known.name}")'
    arch = f', "arch": "{known.arch}"' if known.arch else ""
    return f'tvm.target.Target({{"kind": "{known.name}"{arch}}}, host={cpu})'


def is_fused(case: Case) -> bool:
    """True if the target's default pipeline compiles the case, whatever its own pipeline says."""
    return TARGETS[target_of(case)].kernels


def device_text(case: Case) -> str:
    """An expression whose value is the device that runs the code."""
    known = TARGETS[target_of(case)]
    return "tvm.cpu()" if known.device in ("", "cpu") else f"tvm.device({known.device!r})"


def tensor_text(case: Case) -> str:
    """The function that makes a tensor of the device of an array."""
    device = device_text(case)
    if device == "tvm.cpu()":
        return "tvm.runtime.tensor"
    return f"(lambda array: tvm.runtime.tensor(array, {device}))"


def target_words(case: Case) -> str:
    """The target in words: ``llvm (CPU)``."""
    known = TARGETS[target_of(case)]
    if known.name == LLVM:
        return "llvm (CPU)"
    return f"{known.name} ({known.language}{f', {known.arch}' if known.arch else ''})"


def compiling_lines(case: Case, build: str, outcome: Outcome) -> list[str]:
    """Lines that ``build``, an expression, and have the generated code compiled if that fails."""
    if REFUSED_BY_C in outcome.message:
        return [
            "# This compiles the generated C code.",
            f"relax.VirtualMachine({build}, tvm.cpu())",
        ]
    if REFUSED_BY_NVCC in outcome.message:
        arch = TARGETS[target_of(case)].arch
        return [
            f"executable = {build}",
            "code = executable.mod.imports[0].imports[0].inspect_source()",
            f'command = ["nvcc", "-cubin", "-arch={arch}", "-x", "cu", "-o", os.devnull, "-"]',
            "subprocess.run(command, input=code, text=True, check=True)",
        ]
    return [build]
