"""The text of scripts and tests: runs, outputs, bounds, names and inputs."""

import math
import textwrap
from types import SimpleNamespace

import ml_dtypes
import msgspec
import numpy as np
import pytest
import torch

from relaxcheck.generators.core import program as model
from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.core.fills.kinds import Literal, Offsets
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.core.values import arrays
from relaxcheck.harness.outcomes.outcome import Check, Ending, Outcome, Verdict
from relaxcheck.harness.programs.reproduction import one_bound, reproduction, run_of
from relaxcheck.harness.workers.jobs import Limits, limits_of
from relaxcheck.oracles.answer import Bounded
from relaxcheck.reports.programs.issue import issue_text
from relaxcheck.reports.programs.python.inputs import helper_lines, input_lines
from relaxcheck.reports.programs.repro import pytest_text, repro_text
from relaxcheck.reports.rendering import Came
from tests.reports.programs.toy_program import INVALID, PROGRAM, VERSIONS


def test_inconclusive_outcomes_have_no_script() -> None:
    for verdict in (Verdict.ORACLE_SPLIT, Verdict.NO_ORACLE, Verdict.HARNESS_ERROR):
        with pytest.raises(CaseError, match="says nothing certain about TVM"):
            reproduction(Case("toy", PROGRAM), Outcome(verdict, "compare"))
    with pytest.raises(CaseError, match="has the fixes on"):
        reproduction(Case("toy", PROGRAM, fixes=True), Outcome(Verdict.WRONG_VALUE, "compare"))


def check(size: int, ratio: float | None, regime: str = "normal") -> Check:
    return Check({"n": size}, "sum", ratio, (), regime=regime)


def test_only_the_smallest_failing_binding_is_run() -> None:
    inputs = tuple(Input(name, ("n",), "float32") for name in "xy")
    program = Program(inputs, PROGRAM.nodes, ("sum",))
    case = Case("toy", program, ({"n": 2}, {"n": 9}, {"n": 5}), also=("exact",))
    checks = (check(2, 0.5), check(9, None), check(5, 7.0), check(9, 3.0, "exact"))
    repro = reproduction(case, Outcome(Verdict.WRONG_VALUE, "compare", checks=checks))
    assert [run.binding for run in repro.runs] == [{"n": 5}]
    assert repro.ratio == 7.0
    text = repro_text(repro, "It breaks", VERSIONS)
    assert "# n = 5" in text
    assert 'tirx.Var("n", "int64")' in text
    crashed = reproduction(case, Outcome(Verdict.OPAQUE_CRASH, "run"))
    runs = [(run.binding["n"], run.regime) for run in crashed.runs]
    assert runs == [(2, "normal"), (9, "normal"), (5, "normal"), (9, "exact")]
    accepted = msgspec.structs.replace(case, expect=INVALID.expect)
    accepted_runs = reproduction(accepted, Outcome(Verdict.ACCEPTS_INVALID, "run")).runs
    assert [(run.binding["n"], run.regime) for run in accepted_runs] == runs[:3]
    assert not reproduction(case, Outcome(Verdict.OPAQUE_CRASH, "LegalizeOps")).runs


def test_the_compared_output_of_several_is_named() -> None:
    nodes = (
        *PROGRAM.nodes,
        Node("other", "multiply", ("x", "y")),
        Node("third", "nn.relu", ("x",)),
    )
    case = Case("toy", Program(PROGRAM.inputs, nodes, ("third", "sum", "other")))
    checks = tuple(Check({}, name, 3.0, ()) for name in ("sum", "other"))
    repro = reproduction(case, Outcome(Verdict.WRONG_VALUE, "compare", checks=checks))
    text = repro_text(repro, "It breaks", VERSIONS)
    assert "# Compared is output 1 of 3; 1 more of them is wrong." in text
    assert "(outputs 1, 2 of 3; the script compares 1)" in issue_text(repro, "It", text, VERSIONS)
    alone = reproduction(Case("toy", PROGRAM), Outcome(Verdict.WRONG_VALUE, "compare"))
    assert "Compared is" not in repro_text(alone, "It breaks", VERSIONS)


def test_a_script_and_its_issue_say_whether_the_bug_was_seen() -> None:
    for verdict, words, not_said in (
        (Verdict.WRONG_VALUE, "Seen with apache-tvm 0.27.0.", "Gone"),
        (Verdict.PASS, "Gone with apache-tvm 0.27.0.", "Seen"),
    ):
        text = repro_text(
            reproduction(Case("toy", PROGRAM), Outcome(verdict, "compare")), "It", VERSIONS
        )
        assert words in text
        assert not_said not in text
    repro = reproduction(Case("toy", PROGRAM), Outcome(Verdict.PASS))
    assert "every output is right." in issue_text(repro, "It", "", VERSIONS)


def test_an_inconclusive_release_is_no_failure() -> None:
    repro = reproduction(Case("toy", PROGRAM), Outcome(Verdict.WRONG_VALUE, "compare"))
    text = issue_text(repro, "It", "", VERSIONS, releases={"0.1": Came(Verdict.NO_ORACLE)})
    assert "| 0.1 | not known: it cannot be judged: no independent" in text


def test_a_script_says_what_it_needs() -> None:
    values = reproduction(Case("toy", PROGRAM), Outcome(Verdict.WRONG_VALUE, "compare"))
    assert "\nNeeds tvm, numpy and torch.\n" in repro_text(values, "It breaks", VERSIONS)
    crash = reproduction(Case("toy", PROGRAM), Outcome(Verdict.OPAQUE_CRASH, "emit"))
    assert "\nNeeds tvm.\n" in repro_text(crash, "It breaks", VERSIONS)


def test_a_recorded_timeout_keeps_its_deadline() -> None:
    late = Outcome(Verdict.TIMEOUT, "LegalizeOps", ending=Ending(seconds=2.5))
    limits = limits_of(late, Limits(seconds=60))
    assert limits == Limits(seconds=2.5)
    text = repro_text(reproduction(Case("toy", PROGRAM), late, limits), "It breaks", VERSIONS)
    assert "signal.setitimer(signal.ITIMER_REAL, 2.5)" in text
    died = msgspec.structs.replace(late, verdict=Verdict.PROCESS_DEATH, ending=Ending("SIGSEGV"))
    assert limits_of(died, Limits(seconds=60)) == Limits(seconds=60)


def test_names_that_a_script_needs_are_changed() -> None:
    inputs = (Input("np", (2,), "float32"), Input("lambda_", (2,), "float32"))
    program = Program(inputs, (Node("target", "add", ("np", "lambda_")),), ("target",))
    repro = reproduction(Case("toy", program), Outcome(Verdict.OPAQUE_CRASH, "run"))
    text = repro_text(repro, "It breaks", VERSIONS)
    assert "target_ = bb.emit(relax.op.add(np_, lambda_))" in text
    assert 'np_ = relax.Var("np", ' in text
    inputs = (Input("np", (2,), "float32"), Input("np_", (2,), "float32"))
    program = Program(inputs, (Node("R", "add", ("np", "np_")),), ("R",))
    repro = reproduction(Case("toy", program), Outcome(Verdict.OPAQUE_CRASH, "run"))
    text = repro_text(repro, "It breaks", VERSIONS)
    assert "R_ = bb.emit(relax.op.add(np__, np_))" in text


def test_a_test_is_an_expected_failure_with_its_reason() -> None:
    reason = 'it says "C:\\n" ' + "and goes on for longer than one line of a file may be " * 2
    repro = reproduction(Case("toy", PROGRAM), Outcome(Verdict.OPAQUE_CRASH, "emit"))
    scope: dict[str, object] = {}
    text = pytest_text(repro, reason, VERSIONS, "test_it")
    assert max(map(len, text.splitlines())) <= 100
    mark = text[text.index("@pytest") : text.index("def test_it")]
    exec(mark + "def test_it(): pass", {"pytest": pytest}, scope)
    marks = scope["test_it"].pytestmark  # type: ignore[attr-defined]
    assert marks[0].name == "xfail"
    assert marks[0].kwargs == {"strict": True, "reason": reason}


@pytest.mark.parametrize("ratio", [1.5, 1e9], ids=["a bound an element", "one bound"])
def test_a_test_passes_once_the_values_are_right(ratio: float) -> None:
    inputs = tuple(Input(name, (9,), "float16") for name in "xy")
    case = Case("toy", Program(inputs, (Node("z", "multiply", ("x", "y")),), ("z",)))
    checks = (Check({}, "z", ratio, ()),)
    repro = reproduction(case, Outcome(Verdict.WRONG_VALUE, "compare", checks=checks))
    text = pytest_text(repro, "It breaks", VERSIONS, "test_it")
    assert ("tvm.testing.assert_allclose" in text) is (ratio == 1e9)
    lines = text[text.index("    expected = ") : text.index("\n\nif __name__")]
    # TVM's function calls NumPy's of the same name.
    tvm = SimpleNamespace(testing=np.testing)
    scope = {"np": np, "torch": torch, "tvm": tvm, **repro.runs[0].inputs}
    exec(text[text.index("def reference") : text.index("@pytest")], scope)
    wanted = repro.values["z"].value
    exec(textwrap.dedent(lines), scope | {"actual": wanted})
    for wrong in (wanted + 1, wanted * np.nan):
        with pytest.raises(AssertionError):
            exec(textwrap.dedent(lines), scope | {"actual": wrong})


def test_one_bound_never_hides_the_failure() -> None:
    def bounded(*bounds: float) -> Bounded:
        return Bounded(np.zeros(len(bounds)), np.array(bounds), "float32")

    assert one_bound(bounded(1, 3), 5.0) == 3
    assert one_bound(bounded(1, 3), 2.5) is None
    assert one_bound(bounded(0, 3), 100.0) is None
    assert one_bound(bounded(0, 3), None) is None
    assert one_bound(bounded(2, 2), 1.5) == 2
    assert one_bound(bounded(1, 3), None) == 3
    assert one_bound(bounded(1, math.inf), None) is None


@pytest.mark.parametrize("regime", model.REGIMES)
@pytest.mark.parametrize("dtype", model.DTYPES)
def test_inputs_are_exactly_those_of_the_case(dtype: str, regime: str) -> None:
    for length in (3, 70):
        program = Program(
            (
                Input("c", (length, 2), dtype, constant=True),
                Input("x", ("n", 2), dtype),
                Input("none", (0, 2), dtype),
                Input("starts", (4,), "int32", fill=Offsets(9)),
                Input("one", (), dtype, fill=Literal((1,))),
            ),
            (),
            ("x",),
        )
        case = Case("toy", program, ({"n": 1}, {"n": length}), regime=regime, seed=11)
        run = run_of(case, 1, regime)
        lines = [
            line
            for tensor in program.inputs
            for line in input_lines(case, tensor, run, tensor.name)
        ]
        text = "\n".join(lines)
        scope: dict[str, object] = {}
        modules = "import hashlib, math\nimport ml_dtypes\nimport numpy as np\n"
        exec("\n".join([modules, *helper_lines(text), text]), scope)
        for name, wanted in arrays(case, 1, regime).items():
            made = scope[name]
            assert isinstance(made, np.ndarray)
            assert made.dtype == wanted.dtype
            assert made.shape == wanted.shape
            assert made.tobytes() == np.ascontiguousarray(wanted).tobytes() or _same(made, wanted)
        # Of the whole range of a float, each value is written out.
        whole = regime == model.WHOLE_RANGE and "float" in dtype
        assert ("drawn" in text) is (length == 70 and not whole)


def _same(made: np.ndarray, wanted: np.ndarray) -> bool:  # type: ignore[type-arg]
    """True if they are alike but for the payloads of NaN."""
    wide, other = made.astype(np.float64), wanted.astype(np.float64)
    both = np.isnan(wide) & np.isnan(other)
    return bool((both | ((wide == other) & (np.signbit(wide) == np.signbit(other)))).all())


def test_ml_dtypes_is_imported_only_for_bfloat16() -> None:
    assert np.dtype(ml_dtypes.bfloat16).name == "bfloat16"
    for dtype in ("float32", "bfloat16"):
        inputs = tuple(Input(name, (2,), dtype) for name in "xy")
        case = Case("toy", Program(inputs, PROGRAM.nodes, ("sum",)))
        outcome = Outcome(Verdict.WRONG_VALUE, "compare", checks=(Check({}, "sum", 2.0, ()),))
        text = repro_text(reproduction(case, outcome), "It breaks", VERSIONS)
        assert ("import ml_dtypes" in text) is (dtype == "bfloat16")
