"""The target of a case in scripts."""

import ast
import sys
from pathlib import Path

import pytest

from relaxcheck.generators.core.case import with_target
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.reproduction import reproduction
from relaxcheck.reports.programs.imports import imports_of, packages_of
from relaxcheck.reports.programs.repro import repro_text
from relaxcheck.reports.target_text import compiling_lines, needs_words, own_pipeline_lines

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


@pytest.mark.parametrize(
    ("function", "passes"), [("def passes(target):", ["llvm"]), ("def passes():", [])]
)
def test_a_script_imports_a_pipeline_that_is_not_tvms(
    function: str, passes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_in_script.py").write_text(f"{function}\n    return [*locals().values()]\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "own_in_script", raising=False)
    variables: dict[str, object] = {"target": "llvm"}
    exec("\n".join(own_pipeline_lines("own_in_script:passes")), variables)
    assert variables["passes"] == passes
    assert own_pipeline_lines("") == []


def test_a_script_and_an_issue_say_that_they_need_it() -> None:
    case = Case("exp", PROGRAM, pipeline="own.compiler:passes")
    wrong = Outcome(Verdict.OPAQUE_CRASH, "codegen", None, "no")
    text = repro_text(reproduction(case, wrong), "It breaks", {})
    ast.parse(text)
    assert "\nNeeds tvm and your own.compiler.\n" in text
    assert "    from own.compiler import passes as own_pipeline\n" in text
    assert "relax.build(mod, target, relax_pipeline=passes)" in text
    assert needs_words(case).startswith("the package of `own.compiler:passes`")
    assert needs_words(Case("exp", PROGRAM)) == ""
