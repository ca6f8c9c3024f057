"""The target of a case in scripts."""

import ast

import pytest

from relaxcheck.generators.core.case import with_target
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.reports.programs.imports import imports_of, packages_of
from relaxcheck.reports.target_text import compiling_lines

PROGRAM = Program((Input("x", (4,), "float32"),), (Node("y", "exp", ("x",)),), ("y",))


@pytest.mark.parametrize(
    ("target", "compiler", "line", "needs"),
    [
        ("cuda", "nvcc", "sm_80", "tvm"),
        ("cuda", "NVRTC", 'nvcc.compile_cuda(code, "cubin", "sm_80", compiler="nvrtc")', "tvm"),
        (
            "opencl",
            "the compiler of the OpenCL device",
            "pyopencl.Program(context, code).build()",
            "tvm and pyopencl",
        ),
        ("webgpu", "naga", "device.create_shader_module(code=kernel)", "tvm and wgpu"),
    ],
)
def test_a_script_has_the_code_compiled_that_a_compiler_refuses(
    target: str, compiler: str, line: str, needs: str
) -> None:
    case = with_target(Case("exp", PROGRAM), target)
    message = f"RefusedKernel: {compiler} refuses the generated code: no such name"
    lines = compiling_lines(
        case, "relax.build(mod)", Outcome(Verdict.OPAQUE_CRASH, "codegen", None, message)
    )
    text = "\n".join(lines)
    ast.parse(text)
    assert line in text
    assert packages_of(imports_of(text)) == needs
