"""Scripts do what they say: run by themselves, on each kind of failure and on none."""

import json
import math
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import ml_dtypes
import msgspec
import numpy as np
import pytest
import torch

from generators import program as model
from generators.program import Case, CaseError, Input, Invalid, Literal, Node, Offsets, Program
from generators.values import arrays
from harness.corpus import Entry, entries
from harness.jobs import Limits
from harness.outcome import Check, Outcome, Verdict
from harness.reproduction import limits_of, one_bound, reproduction, run_of
from oracles.answer import Bounded
from reports.issue import Came, issue_text
from reports.python_inputs import helper_lines, input_lines
from reports.repro import pytest_text, repro_text

RUNNER = Path(__file__).parent / "script_runner.py"
ENTRIES = {entry.name: entry for entry in entries()}
VERSIONS = {"apache-tvm": "0.27.0"}

# One of each way to tell that the bug is there, with what its script has to say.
KINDS = {
    "19694-conv1d-transpose-nwc": (1, "left behind by LegalizeOps: R.nn."),
    "conv1d-transpose-empty-permute-folded": (1, "left behind by"),
    "conv1d-transpose-groups-symbolic": (1, "AssertionError: input"),
    "attention-window": (1, "sliding-window attention is not supported"),
    "attention-scale-dtype": (1, "expected: [((2, 4, 2, 8), 'float16')]"),
    "attention-causal-mask-underflow": (1, "largest error: nan"),
    "attention-var-len-mixed-precision": (1, "bound: 0.0"),
    "conv1d-transpose-int8-mixed-precision": (1, "bound: 0"),
    "19696-attention-symbolic-batch": (0, "largest error:"),
}


def alone(tmp_path: Path) -> dict[str, str]:
    """The environment of a process that knows nothing of this project."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**kept, "HOME": str(tmp_path)}


def run_scripts(folder: Path, entries: Iterable[Entry]) -> dict[str, tuple[int, str]]:
    """Exit code and output of the scripts of ``entries``, by name; in processes of their own."""
    paths = {one.name: folder / f"{one.name}.py" for one in entries}
    for one in entries:
        # Alone, without the files beside it.
        shutil.copy(one.folder / "repro.py", paths[one.name])
    (folder / "empty").mkdir()
    ended = subprocess.run(
        [sys.executable, RUNNER, *paths.values()],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder / "empty",
        env=alone(folder),
        timeout=1800,
    )
    told = json.loads(ended.stdout.splitlines()[-1])
    return {name: (told[str(path)][0], told[str(path)][1]) for name, path in paths.items()}


def test_a_script_of_each_kind_exits_as_it_says(tmp_path: Path) -> None:
    told = run_scripts(tmp_path, [ENTRIES[name] for name in KINDS])
    for name, (code, said) in KINDS.items():
        assert told[name][0] == code, told[name][1]
        assert said in told[name][1]
    assert "expected:" in told["attention-causal-mask-underflow"][1]
    assert "actual:" in told["attention-causal-mask-underflow"][1]
    # All of it is formatted as TVM formats its own.
    assert not complaints([tmp_path / f"{name}.py" for name in KINDS])


def complaints(files: list[Path]) -> str:
    """What is not formatted in ``files``, not used, or not defined."""
    said = ""
    for command in (["format", "--diff"], ["check", "--select", "E,F,I"]):
        ended = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--isolated", "--line-length=100", *files],
            capture_output=True,
            text=True,
            check=False,
        )
        said += ended.stdout * bool(ended.returncode)
    return said


def test_a_script_and_a_test_for_every_verdict_is_sound_python(tmp_path: Path) -> None:
    files = []
    for verdict in {*Verdict} - {Verdict.ORACLE_SPLIT, Verdict.NO_ORACLE, Verdict.HARNESS_ERROR}:
        for case in (Case("toy", PROGRAM), Case("toy", PROGRAM, regime="special"), INVALID):
            what = reproduction(case, Outcome(verdict, "run"))
            for text in (
                repro_text(what, "It breaks", VERSIONS),
                pytest_text(what, "It breaks", VERSIONS, "test_it"),
            ):
                files.append(tmp_path / f"{len(files)}.py")
                files[-1].write_text(text)
    assert len(files) == 72
    assert not complaints(files)


def test_every_script_of_the_corpus_agrees(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--repros-full"):
        pytest.skip("needs --repros-full")
    told = run_scripts(tmp_path, ENTRIES.values())
    declared = {
        name: one.expected.verdict(metadata.version("apache-tvm"), fixes=False)
        for name, one in ENTRIES.items()
    }
    assert None not in declared.values()
    codes = {name: code for name, (code, _) in told.items()}
    assert codes == {name: int(bool(one and one.is_failure)) for name, one in declared.items()}


# A stand-in for TVM: whatever is called works, but the first call does what a test wants done.
STUB = """
from unittest.mock import MagicMock

def Var(*arguments):
    {does}

relax, target, runtime, cpu = MagicMock(), MagicMock(), MagicMock(), MagicMock()
relax.Var = Var
"""

PROGRAM = Program(
    (Input("x", (2,), "float32"), Input("y", (2,), "float32")),
    (Node("sum", "add", ("x", "y")),),
    ("sum",),
)


def run_with_stub(folder: Path, does: str, text: str) -> tuple[int, str]:
    (folder / "tvm/script").mkdir(parents=True)
    (folder / "tvm/__init__.py").write_text(STUB.format(does=does))
    (folder / "tvm/script/__init__.py").write_text("from tvm import relax")
    (folder / "repro.py").write_text(text)
    ended = subprocess.run(
        [sys.executable, folder / "repro.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=alone(folder),
        timeout=600,
    )
    return ended.returncode, ended.stdout + ended.stderr


INVALID = Case("toy", PROGRAM, expect=Invalid("add", ("output_padding", "output padding")))
NAMED = "raise ValueError('Add: the output padding 3 is too large')"
REFUSED = "raise ValueError('relax.add is not supported for this shape')"
VAGUE = "raise ValueError('not supported')"
PARTLY = "raise ValueError('padding is not supported')"
UNNAMED = "raise ValueError('Check failed: i < n')"


@pytest.mark.parametrize(
    ("case", "verdict", "does", "code", "said"),
    [
        (Case("toy", PROGRAM), Verdict.PROCESS_DEATH, "import os; os.abort()", 1, "SIGABRT"),
        (Case("toy", PROGRAM), Verdict.PROCESS_DEATH, "import os; os._exit(0)", 0, ""),
        (Case("toy", PROGRAM), Verdict.PROCESS_DEATH, UNNAMED, 0, "ValueError: Check failed"),
        (Case("toy", PROGRAM), Verdict.TIMEOUT, "import time; time.sleep(900)", 1, "SIGALRM"),
        (Case("toy", PROGRAM), Verdict.TIMEOUT, UNNAMED, 0, "ValueError: Check failed"),
        (Case("toy", PROGRAM), Verdict.OUT_OF_MEMORY, "bytearray(1 << 34)", 1, "MemoryError"),
        (Case("toy", PROGRAM), Verdict.OPAQUE_CRASH, UNNAMED, 1, "ValueError: Check failed"),
        (INVALID, Verdict.ACCEPTS_INVALID, UNNAMED, 1, "ValueError: Check failed"),
        (INVALID, Verdict.ACCEPTS_INVALID, NAMED, 0, "output padding 3"),
        (Case("toy", PROGRAM), Verdict.OPAQUE_CRASH, "return 0", 0, ""),
        (Case("toy", PROGRAM), Verdict.OPAQUE_CRASH, REFUSED, 0, "refused clearly: ValueError"),
        (Case("toy", PROGRAM), Verdict.OPAQUE_CRASH, VAGUE, 1, "ValueError: not supported"),
        (Case("toy", PROGRAM), Verdict.OPAQUE_CRASH, PARTLY, 1, "ValueError: padding is not"),
        (Case("toy", PROGRAM), Verdict.SILENT_BAIL, REFUSED, 0, "refused clearly: ValueError"),
        (Case("toy", PROGRAM), Verdict.SILENT_BAIL, UNNAMED, 1, "ValueError: Check failed"),
        (Case("toy", PROGRAM), Verdict.UNSUPPORTED, REFUSED, 1, "add is not supported"),
        (INVALID, Verdict.ACCEPTS_INVALID, "return 0", 1, "compiles this program, which is"),
        (INVALID, Verdict.OPAQUE_CRASH, "return 0", 1, "compiles this program, which is"),
        (INVALID, Verdict.OPAQUE_CRASH, UNNAMED, 1, "ValueError: Check failed"),
        (INVALID, Verdict.OPAQUE_CRASH, NAMED, 0, "output padding 3"),
        (INVALID, Verdict.REJECTED, NAMED, 0, "output padding 3"),
    ],
)
def test_a_script_tells_by_what_tvm_does(
    tmp_path: Path, case: Case, verdict: Verdict, does: str, code: int, said: str
) -> None:
    what = reproduction(case, Outcome(verdict, "emit"), Limits(seconds=3))
    told = run_with_stub(tmp_path, does, repro_text(what, "It breaks", VERSIONS))
    assert told[0] == code, told[1]
    assert said in told[1]


KILLED = "import os; os.kill(os.getpid(), 9)"
CRASHED = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"


@pytest.mark.parametrize(
    ("verdict", "message", "does", "code"),
    [
        (Verdict.PROCESS_DEATH, "worker ended with SIGSEGV in emit: words", CRASHED, 1),
        (Verdict.PROCESS_DEATH, "worker ended with SIGSEGV in emit", "import os; os.abort()", 2),
        (Verdict.PROCESS_DEATH, "worker ended with SIGSEGV in emit", KILLED, 2),
        (Verdict.PROCESS_DEATH, "worker ended with SIGSEGV in emit", UNNAMED, 0),
        (Verdict.PROCESS_DEATH, "worker ended with SIGKILL in emit", KILLED, 1),
        (Verdict.PROCESS_DEATH, "worker ended with a closed connection in emit", KILLED, 2),
        (Verdict.TIMEOUT, "still in emit after 3 s", KILLED, 2),
        (Verdict.OUT_OF_MEMORY, "grew by more than 3 MiB in emit", KILLED, 2),
        (Verdict.OUT_OF_MEMORY, "grew by more than 3 MiB in emit", CRASHED, 1),
    ],
)
def test_another_signal_than_the_recorded_one_tells_nothing(
    tmp_path: Path, verdict: Verdict, message: str, does: str, code: int
) -> None:
    what = reproduction(Case("toy", PROGRAM), Outcome(verdict, "emit", None, message))
    text = repro_text(what, "It breaks", VERSIONS)
    assert "\nand with 2 where" in text
    told = run_with_stub(tmp_path, does, text)
    assert told[0] == code, told[1]
    assert (f"ended by {'SIGKILL' if does is KILLED else 'SIG'}" in told[1]) is bool(code)


GIVES = "relax.VirtualMachine.return_value.__getitem__.return_value.return_value.numpy.return_value"


@pytest.mark.parametrize(
    ("change", "code"),
    [("", 0), ("[None]", 1), (".astype('int64')", 1), (" + np.uint64(1)", 1)],
    ids=["right", "another shape", "another dtype", "other values"],
)
def test_values_are_right_only_in_the_right_shape_and_dtype(
    tmp_path: Path, change: str, code: int
) -> None:
    # PyTorch knows no such integers: the script is done without it.
    inputs = tuple(Input(name, (2,), "uint64") for name in "xy")
    case = Case("toy", Program(inputs, PROGRAM.nodes, ("sum",)))
    checks = (Check({}, "sum", None, (), 2),)
    what = reproduction(case, Outcome(Verdict.WRONG_VALUE, "compare", checks=checks))
    given = what.runs[0].inputs
    right = (given["x"] + given["y"]).tolist()
    does = f"import numpy as np; {GIVES} = np.array({right}, 'uint64'){change}"
    told = run_with_stub(tmp_path, does, repro_text(what, "It breaks", VERSIONS))
    assert (told[0], "expected:" in told[1]) == (code, True), told[1]
    assert "Traceback" not in told[1]
    test = pytest_text(what, "It breaks", VERSIONS, "test_it")
    assert 'assert (found.shape, str(found.dtype)) == ((2,), "uint64")' in test


def test_what_says_nothing_about_tvm_has_no_script() -> None:
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
    what = reproduction(case, Outcome(Verdict.WRONG_VALUE, "compare", checks=checks))
    assert [run.binding for run in what.runs] == [{"n": 5}]
    assert what.ratio == 7.0
    text = repro_text(what, "It breaks", VERSIONS)
    assert "# n = 5" in text
    assert 'tirx.Var("n", "int64")' in text
    crashed = reproduction(case, Outcome(Verdict.OPAQUE_CRASH, "run"))
    runs = [(run.binding["n"], run.regime) for run in crashed.runs]
    assert runs == [(2, "normal"), (9, "normal"), (5, "normal"), (9, "exact")]
    accepted = msgspec.structs.replace(case, expect=INVALID.expect)
    accepted_runs = reproduction(accepted, Outcome(Verdict.ACCEPTS_INVALID, "run")).runs
    assert [(run.binding["n"], run.regime) for run in accepted_runs] == runs[:3]
    assert not reproduction(case, Outcome(Verdict.OPAQUE_CRASH, "LegalizeOps")).runs


def test_which_of_several_outputs_is_compared_is_said() -> None:
    nodes = (
        *PROGRAM.nodes,
        Node("other", "multiply", ("x", "y")),
        Node("third", "nn.relu", ("x",)),
    )
    case = Case("toy", Program(PROGRAM.inputs, nodes, ("third", "sum", "other")))
    checks = tuple(Check({}, name, 3.0, ()) for name in ("sum", "other"))
    what = reproduction(case, Outcome(Verdict.WRONG_VALUE, "compare", checks=checks))
    text = repro_text(what, "It breaks", VERSIONS)
    assert "# Compared is output 1 of 3; 1 more of them is wrong." in text
    assert "(outputs 1, 2 of 3; the script compares 1)" in issue_text(what, "It", text, VERSIONS)
    alone = reproduction(Case("toy", PROGRAM), Outcome(Verdict.WRONG_VALUE, "compare"))
    assert "Compared is" not in repro_text(alone, "It breaks", VERSIONS)


def test_a_script_and_its_issue_say_whether_the_bug_was_seen() -> None:
    for verdict, said, not_said in (
        (Verdict.WRONG_VALUE, "Seen with apache-tvm 0.27.0.", "Gone"),
        (Verdict.PASS, "Gone with apache-tvm 0.27.0.", "Seen"),
    ):
        text = repro_text(
            reproduction(Case("toy", PROGRAM), Outcome(verdict, "compare")), "It", VERSIONS
        )
        assert said in text
        assert not_said not in text
    what = reproduction(Case("toy", PROGRAM), Outcome(Verdict.PASS))
    assert "every output is right." in issue_text(what, "It", "", VERSIONS)


def test_what_a_release_says_nothing_of_is_no_failure() -> None:
    what = reproduction(Case("toy", PROGRAM), Outcome(Verdict.WRONG_VALUE, "compare"))
    text = issue_text(what, "It", "", VERSIONS, releases={"0.1": Came(Verdict.NO_ORACLE)})
    assert "| 0.1 | not known: it cannot be judged, for no independent" in text


def test_a_script_says_what_it_needs() -> None:
    values = reproduction(Case("toy", PROGRAM), Outcome(Verdict.WRONG_VALUE, "compare"))
    assert "\nNeeds tvm, numpy and torch.\n" in repro_text(values, "It breaks", VERSIONS)
    crash = reproduction(Case("toy", PROGRAM), Outcome(Verdict.OPAQUE_CRASH, "emit"))
    assert "\nNeeds tvm.\n" in repro_text(crash, "It breaks", VERSIONS)


def test_a_recorded_timeout_keeps_its_deadline() -> None:
    late = Outcome(Verdict.TIMEOUT, "LegalizeOps", None, "still in LegalizeOps after 2.5 s")
    limits = limits_of(late, Limits(seconds=60))
    assert limits == Limits(seconds=2.5)
    text = repro_text(reproduction(Case("toy", PROGRAM), late, limits), "It breaks", VERSIONS)
    assert "signal.setitimer(signal.ITIMER_REAL, 2.5)" in text
    died = msgspec.structs.replace(late, verdict=Verdict.PROCESS_DEATH)
    assert limits_of(died, Limits(seconds=60)) == Limits(seconds=60)


def test_names_that_a_script_needs_are_changed() -> None:
    inputs = (Input("np", (2,), "float32"), Input("lambda_", (2,), "float32"))
    program = Program(inputs, (Node("target", "add", ("np", "lambda_")),), ("target",))
    what = reproduction(Case("toy", program), Outcome(Verdict.OPAQUE_CRASH, "run"))
    text = repro_text(what, "It breaks", VERSIONS)
    assert "target_ = bb.emit(relax.op.add(np_, lambda_))" in text
    assert 'np_ = relax.Var("np", ' in text
    inputs = (Input("np", (2,), "float32"), Input("np_", (2,), "float32"))
    program = Program(inputs, (Node("R", "add", ("np", "np_")),), ("R",))
    what = reproduction(Case("toy", program), Outcome(Verdict.OPAQUE_CRASH, "run"))
    text = repro_text(what, "It breaks", VERSIONS)
    assert "R_ = bb.emit(relax.op.add(np__, np_))" in text


def test_a_test_is_an_expected_failure_with_its_reason() -> None:
    reason = 'it says "C:\\n" ' + "and goes on for longer than one line of a file may be " * 2
    what = reproduction(Case("toy", PROGRAM), Outcome(Verdict.OPAQUE_CRASH, "emit"))
    scope: dict[str, object] = {}
    text = pytest_text(what, reason, VERSIONS, "test_it")
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
    what = reproduction(case, Outcome(Verdict.WRONG_VALUE, "compare", checks=checks))
    text = pytest_text(what, "It breaks", VERSIONS, "test_it")
    assert ("tvm.testing.assert_allclose" in text) is (ratio == 1e9)
    lines = text[text.index("    expected = ") : text.index("\n\nif __name__")]
    # TVM's function calls NumPy's of the same name.
    tvm = SimpleNamespace(testing=np.testing)
    scope = {"np": np, "torch": torch, "tvm": tvm, **what.runs[0].inputs}
    exec(text[text.index("def reference") : text.index("@pytest")], scope)
    wanted = what.values["z"].value
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
        lines = [line for one in program.inputs for line in input_lines(case, one, run, one.name)]
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
        assert ("drawn" in text) is (length == 70)


def _same(made: np.ndarray, wanted: np.ndarray) -> bool:  # type: ignore[type-arg]
    """Whether they are alike but for the payloads of NaN."""
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
