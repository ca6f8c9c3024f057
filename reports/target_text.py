"""The target of a case in a script: how to name it, to build for it and to load what was built."""

from collections.abc import Mapping

from relaxcheck.extensions.naming import is_own, parts
from relaxcheck.generators.core.case import target_of
from relaxcheck.generators.core.compiled import CompiledCase
from relaxcheck.generators.targets import LLVM, TARGETS
from relaxcheck.harness.outcomes.outcome import Outcome

REFUSED_BY_C = "the C compiler refuses the generated code"
"""The start of the message where a C compiler finds an error in the code for target C."""

_COMPILED: Mapping[str, tuple[str, ...]] = {
    "nvcc refuses the generated code": (
        'command = ["nvcc", "-cubin", "-arch={arch}", "-x", "cu", "-o", os.devnull, "-"]',
        "subprocess.run(command, input=code, text=True, check=True)",
    ),
    "NVRTC refuses the generated code": (
        "from tvm.support import nvcc",
        'nvcc.compile_cuda(code, "cubin", "{arch}", compiler="nvrtc")',
    ),
    "the compiler of the OpenCL device refuses the generated code": (
        "context = pyopencl.create_some_context(interactive=False)",
        "pyopencl.Program(context, code).build()",
    ),
    "naga refuses the generated code": (
        "device = wgpu.gpu.request_adapter_sync().request_device_sync()",
        "# Each kernel is a module of its own.",
        'for kernel in re.split(r"//-+\\n// Function: .*\\n//-+\\n", code):',
        "    device.create_shader_module(code=kernel)",
    ),
}
"""The lines that have ``code`` compiled, by the message of the compiler that refuses it."""


def target_text(case: CompiledCase) -> str:
    """An expression whose value is TVM's target."""
    known = TARGETS[target_of(case)]
    cpu = f'tvm.target.Target({{"kind": "llvm", "opt-level": {case.opt_level}}})'
    if known.name == LLVM:
        return cpu
    if not known.kernels:
        return f'tvm.target.Target("{known.name}")'
    arch = f', "arch": "{known.arch}"' if known.arch else ""
    return f'tvm.target.Target({{"kind": "{known.name}"{arch}}}, host={cpu})'


def is_fused(case: CompiledCase) -> bool:
    """True if the target's default pipeline compiles the case, whatever its own pipeline says."""
    return TARGETS[target_of(case)].kernels


def needs_words(case: CompiledCase) -> str:
    """The code besides TVM that a script of ``case`` needs; "" if it needs none."""
    if not is_own(case.pipeline):
        return ""
    return f"the package of `{case.pipeline}`, the pipeline that compiles the program"


def own_pipeline_lines(name: str) -> list[str]:
    """Lines that set ``passes`` to what the function ``name`` of a user's own returns."""
    module, function = parts(name)
    call = "own_pipeline(target) if inspect.signature(own_pipeline).parameters else own_pipeline()"
    return (
        [
            f"# The pipeline is not TVM's: the package of {module} has to be on Python's path.",
            "import inspect",
            f"from {module} import {function} as own_pipeline",
            f"passes = {call}",
        ]
        if name
        else []
    )


def device_text(case: CompiledCase) -> str:
    """An expression whose value is the device that runs the code."""
    known = TARGETS[target_of(case)]
    return "tvm.cpu()" if known.device in ("", "cpu") else f"tvm.device({known.device!r})"


def tensor_text(case: CompiledCase) -> str:
    """The function that makes a tensor of the device of an array."""
    device = device_text(case)
    if device == "tvm.cpu()":
        return "tvm.runtime.tensor"
    return f"(lambda array: tvm.runtime.tensor(array, {device}))"


def target_words(case: CompiledCase) -> str:
    """The target in words: ``llvm (CPU)``."""
    known = TARGETS[target_of(case)]
    if known.name == LLVM:
        return "llvm (CPU)"
    return f"{known.name} ({known.language}{f', {known.arch}' if known.arch else ''})"


def compiling_lines(case: CompiledCase, build: str, outcome: Outcome) -> list[str]:
    """Lines that ``build``, an expression, and have the generated code compiled if that fails."""
    if REFUSED_BY_C in outcome.message:
        return [
            "# This compiles the generated C code.",
            f"relax.VirtualMachine({build}, tvm.cpu())",
        ]
    for refused, lines in _COMPILED.items():
        if refused in outcome.message:
            arch = TARGETS[target_of(case)].arch
            code = "code = executable.mod.imports[0].imports[0].inspect_source()"
            return [f"executable = {build}", code, *(line.format(arch=arch) for line in lines)]
    return [build]
