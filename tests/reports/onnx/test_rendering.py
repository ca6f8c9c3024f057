"""Scripts and issues about models: the scripts are run."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.onnx.case import Importing, OnnxCase
from relaxcheck.generators.onnx.model import Model, Node, Tensor, TensorValue
from relaxcheck.harness.known.corpus import Culprit, entries
from relaxcheck.harness.onnx.execute import execute
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.bisection.evidence import Evidence
from relaxcheck.reports.kinds import rendering
from relaxcheck.reports.onnx.rendering import RENDERING
from relaxcheck.reports.rendering import About
from tests.harness.onnx.models import chain, of, softmax

ABOUT = About({"apache-tvm": "0.27.0.post1", "onnx": "1.23.2", "python": "3.11"})


def status(script: str, folder: Path) -> tuple[int, str]:
    """The exit status of ``script``, and what it prints."""
    path = folder / "repro.py"
    path.write_text(script)
    ended = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=120)
    return ended.returncode, ended.stdout + ended.stderr


def test_a_model_as_text() -> None:
    lines = RENDERING.text(chain()).splitlines()
    assert lines[:3] == ["opset 18", "x: float32[B, 3]", "w: float32[3, 2] initializer"]
    assert "y = ReduceSum(positive, keepdims=0)" in lines
    assert lines[-1].startswith("# pipeline build, LLVM level 0; bindings B=2; B=1")


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(softmax(), marks=pytest.mark.slow),
        chain(importing=Importing(keep_params=True), pipeline="default-pipeline"),
        pytest.param(of("LeakyRelu", alpha=0.25), marks=pytest.mark.slow),
    ],
    ids=["softmax", "parameters", "attribute"],
)
def test_the_script_of_a_model_that_passes_ends_with_0(case: OnnxCase, tmp_path: Path) -> None:
    outcome = execute(case)
    assert outcome.verdict is Verdict.PASS
    script, issue = RENDERING.pasted(case, outcome, "A title", ABOUT)
    code, output = status(script, tmp_path)
    assert code == 0, output
    assert issue.startswith("[Bug][Frontend][ONNX] A title")
    assert script in issue


def test_the_script_of_a_crash_ends_with_1(tmp_path: Path) -> None:
    case = of("Elu", "float16")
    outcome = execute(case)
    script, issue = RENDERING.pasted(case, outcome, "Elu of float16", ABOUT)
    code, output = status(script, tmp_path)
    assert code == 1, output
    assert outcome.message.split(":")[0] in output
    assert "when it is imported" in issue


@pytest.mark.slow
def test_the_script_of_a_wrong_result_compares(tmp_path: Path) -> None:
    """Of values that are right after all, it says that the bug is gone."""
    case = softmax()
    wrong = Outcome(Verdict.WRONG_VALUE, "compare", None, "off", oracles=("onnxruntime",))
    code, output = status(RENDERING.pasted(case, wrong, "t", ABOUT)[0], tmp_path)
    assert code == 0, output
    assert "expected float32[2, 3, 2]" in output


def test_constants_and_tensor_attributes_are_written_out(tmp_path: Path) -> None:
    model = Model(
        13,
        (Tensor("x", (2,), "float32"), Tensor("c", (2,), "float32", "node")),
        (
            Node("Constant", (), ("two",), {"value": TensorValue("float32", (1,), (2.0,))}),
            Node("Mul", ("x", "two"), ("doubled",)),
            Node("Add", ("doubled", "c"), ("y",)),
        ),
        ("y",),
    )
    case = OnnxCase("onnx-graph", model)
    code, output = status(RENDERING.pasted(case, execute(case), "t", ABOUT)[0], tmp_path)
    assert code == 0, output


def test_a_test_in_tvm_s_style_fails_while_the_bug_is_there(tmp_path: Path) -> None:
    case = of("Elu", "float16")
    text = RENDERING.pytest(case, execute(case), "Elu of float16", {}, "test_elu")
    path = tmp_path / "test_elu.py"
    path.write_text(text)
    # As its last lines run it, which need ``tvm.testing``.
    command = [sys.executable, str(path), "-q", "-p", "no:cacheprovider"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert "1 xfailed" in ended.stdout, ended.stdout + ended.stderr


def test_titles_say_what_happens_and_with_which_settings() -> None:
    case, outcome = of("Elu", "float16"), execute(of("Elu", "float16"))
    title = rendering(case).title(case, outcome, None, {"T": "float16", "opset": "7"})
    assert title == "ONNX Elu of float16 raises an error when it is imported with opset 7"


def test_no_script_of_a_case_with_the_fixes() -> None:
    case = replace(softmax(), fixes=True)
    with pytest.raises(CaseError, match="has the fixes on"):
        RENDERING.pasted(case, Outcome(Verdict.WRONG_VALUE), "t", ABOUT)


@pytest.mark.parametrize(("name", "importer"), [("LegalizeOps", True), ("FuseOps", False)])
def test_an_issue_about_lowered_functions_suspects_the_importer(name: str, importer: bool) -> None:
    """Functions that are wrong may compute a wrong model, unless they were right before a pass."""
    wrong = Outcome(Verdict.WRONG_VALUE, "compare", None, "off", oracles=("onnxruntime",))
    about = dataclasses.replace(ABOUT, culprit=Culprit(name, Evidence.DIRECT, "why"))
    issue = RENDERING.pasted(softmax(), wrong, "t", about)[1]
    start = "the import, the lowering" if importer else "the lowering"
    assert f"\nAt fault: {start} of `{name}`, or the code" in issue


@pytest.mark.parametrize(
    ("oracles", "end"),
    [
        ((), "."),
        (("onnxruntime",), ", as ONNX Runtime does."),
        (("reference", "evaluator"), ", as a float64 reference and the evaluator of onnx do."),
    ],
)
def test_an_issue_names_the_oracles(oracles: tuple[str, ...], end: str) -> None:
    wrong = Outcome(Verdict.WRONG_VALUE, "compare", None, "off", oracles=oracles)
    issue = RENDERING.pasted(softmax(), wrong, "t", ABOUT)[1]
    assert f"computes what ONNX defines{end}\n" in issue


def test_a_script_expects_nothing_of_an_oracle_that_has_a_fault_there(tmp_path: Path) -> None:
    """ONNX's evaluator and ONNX Runtime pad as if there were no dilations."""
    entry = next(entry for entry in entries() if entry.name == "onnx-average-pool-dilated")
    assert isinstance(entry.case, OnnxCase)
    outcome = execute(entry.case)
    assert outcome.oracles == ("reference",)
    script = RENDERING.pasted(entry.case, outcome, "t", ABOUT)[0]
    assert "expected = [\n    np.array([[[4.0, 1.5, 4.0]]], 'float32'),\n]\n" in script
    assert "needs tvm, numpy and onnx. It" in script
    code, output = status(script, tmp_path)
    assert code == 1, output
