"""Scripts, issues and tests about PyTorch programs: the scripts are run."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.torch.case import DYNAMO, FX, NAMED, Exporting, Importing, TorchCase
from relaxcheck.generators.torch.program import Layer, Node, Ref, Tensor
from relaxcheck.harness.outcomes.outcome import Check, Outcome, Verdict
from relaxcheck.harness.torch.execute import execute
from relaxcheck.oracles.torch.evaluating import evaluated
from relaxcheck.reports.kinds import rendering
from relaxcheck.reports.rendering import About
from relaxcheck.reports.torch.rendering import RENDERING
from tests.reports.torch.cases import last_column, normalized, of, rows

ABOUT = About({"apache-tvm": "0.27.0", "torch": "2.13.0", "python": "3.11"})
WITH_FIXES = (
    "import runpy, sys; from relaxcheck import fixes; fixes.install(); runpy.run_path(sys.argv[1])"
)
WRONG = Outcome(Verdict.WRONG_VALUE, "compare", None, "output y: off", oracles=("pytorch",))
PASSES = Outcome(Verdict.PASS)


def status(script: str, folder: Path, *, fixes: bool = False) -> tuple[int, str]:
    """The exit status of ``script``, and what it prints."""
    path = folder / "repro.py"
    path.write_text(script)
    command = [sys.executable, *(("-c", WITH_FIXES) if fixes else ()), str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=240)
    return ended.returncode, ended.stdout + ended.stderr


def script(case: TorchCase, outcome: Outcome) -> str:
    return RENDERING.pasted(case, outcome, "A title", ABOUT)[0]


def test_a_program_as_text() -> None:
    assert RENDERING.text(last_column()).splitlines() == [
        "x: float32[2, 3]",
        "y = x[:, -1]",
        "return y",
        "# undecomposed, pipeline build, LLVM level 0",
    ]


def test_the_script_of_a_wrong_value_ends_with_1_and_with_the_fixes_with_0(tmp_path: Path) -> None:
    case = last_column()
    outcome = execute(case)
    assert outcome.verdict is Verdict.WRONG_VALUE
    text, issue = RENDERING.pasted(case, outcome, "A title", ABOUT)
    assert len(text.splitlines()) <= 60
    assert "return x[:, -1]" in text
    code, output = status(text, tmp_path)
    assert code == 1, output
    assert "output 0 of PyTorch: float32[2]" in output
    code, output = status(text, tmp_path, fixes=True)
    assert code == 0, output
    assert issue.startswith("[Bug][Frontend][PyTorch] A title")
    assert text in issue
    assert "torch 2.13.0" in issue


@pytest.mark.slow
def test_the_weights_of_layers_are_those_of_the_case(tmp_path: Path) -> None:
    code, output = status(script(normalized(), WRONG), tmp_path)
    assert code == 1, output
    code, output = status(script(normalized(), WRONG), tmp_path, fixes=True)
    assert code == 0, output


def test_drawn_weights_are_those_of_the_case(tmp_path: Path) -> None:
    case = of(Node("layer", (Ref("x"),)), layers={"layer": Layer("torch.nn.Linear", (3, 40))})
    text = script(case, PASSES)
    assert "def weigh(" in text
    path = tmp_path / "drawn.py"
    before, _, _ = text.partition("def compiled")
    path.write_text(f"{before}print(repr(model(*inputs).detach().numpy().tobytes()))\n")
    printed = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=120)
    (own,) = evaluated(case.program, arrays(case, 0), case.seed, case.regime).own
    assert printed.stdout.strip() == repr(own.tobytes()), printed.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        of(Node("torch.tanh", (Ref("x"),)), importing=Importing(unwrap=True)),
        of(
            Node("layer", (Ref("x"),)),
            layers={"layer": Layer("torch.nn.Linear", (3, 2))},
            importing=Importing(keep_params=True),
            pipeline="default-pipeline",
        ),
        of(
            Node("torch.add", (Ref("x"), Ref("w"))),
            tensors=(Tensor("x", ("n", 2), "bfloat16"), Tensor("w", ("n", 1), "bfloat16")),
            bindings=({"n": 4}, {"n": 2}),
            exporting=Exporting(NAMED),
        ),
        of(Node("torch.relu", (Ref("x"),)), importing=Importing(FX)),
        of(
            Node("torch.relu", (Ref("x"),)),
            tensors=(Tensor("x", ("n", 2)),),
            bindings=({"n": 4},),
            importing=Importing(FX),
        ),
        of(Node("torch.relu", (Ref("x"),)), importing=Importing(DYNAMO)),
    ],
    ids=["unwrapped", "parameters", "bfloat16", "fx", "symbolic-fx", "dynamo"],
)
def test_the_script_of_a_program_that_passes_ends_with_0(case: TorchCase, tmp_path: Path) -> None:
    code, output = status(script(case, PASSES), tmp_path)
    assert code == 0, output


@pytest.mark.slow
def test_the_run_that_is_wrong_is_shown_and_the_export_is_that_of_the_case(tmp_path: Path) -> None:
    case = of(
        Node("torch.tanh", (Ref("x"),)),
        tensors=(Tensor("x", ("n", 2)),),
        bindings=({"n": 4}, {"n": 3}),
        exporting=Exporting(NAMED),
    )
    wrong = replace(WRONG, checks=(Check({"n": 3}, "y", None, ("pytorch",)),))
    text = script(case, wrong)
    assert "torch.zeros((4, 2), dtype=torch.float32)" in text
    assert 'n = torch.export.Dim("n")' in text
    code, output = status(text, tmp_path)
    assert code == 0, output
    assert "float32[3, 2]" in output


@pytest.mark.parametrize(
    "verdict",
    [pytest.param(Verdict.OPAQUE_CRASH, marks=pytest.mark.slow), Verdict.UNSUPPORTED],
)
def test_the_script_of_an_error_ends_with_1(verdict: Verdict, tmp_path: Path) -> None:
    case = (
        of(Node("torch.cumsum", (Ref("x"), 0)), tensors=(Tensor("x", (2, 3), "bool"),))
        if verdict is Verdict.OPAQUE_CRASH
        else of(Node("torch.amax", (Ref("x"),)))
    )
    outcome = execute(case)
    assert outcome.verdict is verdict
    text, issue = RENDERING.pasted(case, outcome, "A title", ABOUT)
    code, output = status(text, tmp_path)
    assert code == 1, output
    assert outcome.message.split(":")[0] in output
    assert "when it is" in issue or "in " in issue


@pytest.mark.slow
def test_a_result_of_another_structure_is_shown(tmp_path: Path) -> None:
    seen = Outcome(
        Verdict.WRONG_SHAPE, "import", None, "the imported function returns a tuple, not a tensor"
    )
    case = of(Node("torch.tanh", (Ref("x"),)))
    code, output = status(script(case, seen), tmp_path)
    assert code == 1, output
    assert "the result is to be a tensor" in output


def test_what_may_be_anything_is_not_compared() -> None:
    large = Tensor("x", (3,), fill=Literal((3e9, 1.5, 2.0)))
    text = script(of(Node("torch.Tensor.int", (Ref("x"),)), tensors=(large,)), WRONG)
    assert "close |= np.array([[1, 0, 0]][number], bool)" in text


def test_layers_of_attention_do_without_their_fast_path() -> None:
    mask = Tensor("mask", (3, 3))
    x = Tensor("x", (1, 3, 8))
    layers = {"layer": Layer("torch.nn.TransformerEncoderLayer", (8, 2, 16), {"batch_first": True})}
    node = Node("layer", (Ref("x"),), {"src_mask": Ref("mask")})
    off = "torch.backends.mha.set_fastpath_enabled(False)\nmodel = M().eval()\n"
    assert off in script(of(node, tensors=(x, mask), layers=layers), WRONG)
    assert "set_fastpath" not in script(of(Node("torch.exp", (Ref("x"),))), WRONG)


@pytest.mark.parametrize("wrong", [0, 2])
def test_a_small_element_among_large_ones_is_wrong_by_itself(wrong: int) -> None:
    """``exp`` of -20 is 2e-9, and of 10 is 22026: no one number is a bound of both."""
    x = Tensor("x", (3,), fill=Literal((-20.0, 0.5, 10.0)))
    text = script(of(Node("torch.exp", (Ref("x"),)), tensors=(x,)), WRONG)
    (atol,) = re.findall(r"atol = (.*)\[number\]", text)
    (rtol,) = re.findall(r"rtol=([^,]*)", text)
    wanted = np.exp(np.array([-20.0, 0.5, 10.0]))
    factor = np.ones(3)
    rtols = ast.literal_eval(rtol.removesuffix("[number]"))
    apart = {"rtol": rtols[0] if rtols else 0, "atol": ast.literal_eval(atol)[0]}
    factor[wrong] = 1.0001
    assert np.isclose(wanted * (1 + 1e-7), wanted, **apart).all()
    assert np.isclose(wanted * factor, wanted, **apart).tolist() == [at != wrong for at in range(3)]


def test_a_test_in_tvm_s_style_fails_while_the_bug_is_there(tmp_path: Path) -> None:
    case = rows()
    text = RENDERING.pytest(case, execute(case), "x[at] at -1", {}, "test_rows")
    path = tmp_path / "test_rows.py"
    path.write_text(text)
    # As its last lines run it, which need ``tvm.testing``.
    command = [sys.executable, str(path), "-q", "-p", "no:cacheprovider"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=240, cwd=tmp_path)
    assert "1 xfailed" in ended.stdout, ended.stdout + ended.stderr


def test_titles_say_what_happens_and_with_which_settings() -> None:
    case = last_column()
    title = rendering(case).title(case, WRONG, None, {"dtype": "float16", "dims": "symbolic"})
    assert title == "x[:, -1] of float16 gives wrong values with symbolic dimensions"


def test_titles_show_the_call_or_the_layer_of_a_sample() -> None:
    blame = {"sample": "2x3 alpha=2", "dtype": "float64"}
    call = of(Node("torch.add", (Ref("x"), 1.5), {"alpha": 2}))
    assert RENDERING.title(call, WRONG, None, blame) == (
        "torch.add(x, 1.5, alpha=2) on x[2, 3] of float64 gives wrong values"
    )
    layer = of(Node("layer", (Ref("x"),)), layers={"layer": Layer("torch.nn.ELU", (2.0,))})
    assert RENDERING.title(layer, WRONG, None, blame) == (
        "torch.nn.ELU(2.0) on x[2, 3] of float64 gives wrong values"
    )
    assert RENDERING.title(layer, WRONG, None, {}) == "torch.nn.ELU gives wrong values"
    two = of(Node("torch.relu", (Ref("x"),), outputs=("p",)), Node("torch.neg", (Ref("p"),)))
    assert RENDERING.title(two, WRONG, None, blame) == (
        "torch.relu + torch.neg of float64 gives wrong values with sample=2x3 alpha=2"
    )


def test_the_picture_has_a_box_for_each_tensor_node_and_output() -> None:
    drawn = RENDERING.picture(rows())
    assert [box.kind for box in drawn.boxes] == ["input", "input", "operator", "output"]
    assert len(drawn.edges) == 3


def test_no_script_of_a_case_with_the_fixes_or_without_a_verdict_on_tvm() -> None:
    with pytest.raises(CaseError, match="has the fixes on"):
        script(replace(rows(), fixes=True), WRONG)
    with pytest.raises(CaseError, match="nothing to be shown"):
        script(rows(), Outcome(Verdict.NO_ORACLE))
