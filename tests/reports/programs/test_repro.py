"""Scripts do what they say: run by themselves, on each kind of failure and on none."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import pytest

from relaxcheck.generators.core.case import Invalid, Mismatch
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.known.corpus import Entry, entries
from relaxcheck.harness.outcomes.outcome import Check, Ending, Outcome, Verdict
from relaxcheck.harness.programs.reproduction import reproduction
from relaxcheck.harness.releases.environment import is_alone
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.reports.programs.repro import pytest_text, repro_text
from tests.reports.programs.toy_program import INVALID, PROGRAM, VERSIONS, alone

RUNNER = Path(__file__).parent / "script_runner.py"
ENTRIES = {entry.name: entry for entry in entries()}


# One of each way to tell that the bug is there, with what its script has to say.
KINDS = {
    "19694-conv1d-transpose-nwc": (1, "left behind by LegalizeOps: R.nn."),
    "conv1d-transpose-empty-permute-folded": (1, "left behind by"),
    "conv1d-transpose-groups-symbolic": (1, "AssertionError: input"),
    "attention-window": (1, "sliding-window attention is not supported"),
    "attention-scale-dtype": (1, "expected: [((2, 4, 2, 8), 'float16')]"),
    "attention-causal-mask-underflow": (1, "largest error: nan"),
    "attention-var-len-mixed-precision": (1, "bound: 0.0"),
    "argmin-of-infinity": (1, "bound: 0"),
    "19696-attention-symbolic-batch": (0, "largest error:"),
}


def run_scripts(folder: Path, entries: Iterable[Entry]) -> dict[str, tuple[int, str]]:
    """Exit code and output of the scripts of ``entries``, by name; in processes of their own."""
    paths = {entry.name: folder / f"{entry.name}.py" for entry in entries}
    for entry in entries:
        # Alone, without the files beside it.
        shutil.copy(entry.folder / "repro.py", paths[entry.name])
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
    answer = json.loads(ended.stdout.splitlines()[-1])
    return {name: (answer[str(path)][0], answer[str(path)][1]) for name, path in paths.items()}


def test_a_script_of_each_kind_exits_as_it_says(tmp_path: Path) -> None:
    output = run_scripts(tmp_path, [ENTRIES[name] for name in KINDS])
    for name, (code, words) in KINDS.items():
        assert output[name][0] == code, output[name][1]
        assert words in output[name][1]
    assert "expected:" in output["attention-causal-mask-underflow"][1]
    assert "actual:" in output["attention-causal-mask-underflow"][1]
    # All of it is formatted as TVM formats its own.
    assert not complaints([tmp_path / f"{name}.py" for name in KINDS])


def complaints(files: list[Path]) -> str:
    """Complaints of ruff: lines of ``files`` not formatted, names not used or not defined."""
    text = ""
    for command in (["format", "--diff"], ["check", "--select", "E,F,I"]):
        ended = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--isolated", "--line-length=100", *files],
            capture_output=True,
            text=True,
            check=False,
        )
        text += ended.stdout * bool(ended.returncode)
    return text


def test_a_script_and_a_test_for_every_verdict_is_sound_python(tmp_path: Path) -> None:
    files = []
    for verdict in {*Verdict} - {
        Verdict.ORACLE_SPLIT,
        Verdict.NO_ORACLE,
        Verdict.HARNESS_ERROR,
        Verdict.BUILT,
        # It takes passes, which these programs do not have.
        Verdict.BROKEN_MODULE,
    }:
        valid = (Case("toy", PROGRAM), Case("toy", PROGRAM, regime="special"))
        about_invalid = verdict in (Verdict.REJECTED, Verdict.ACCEPTS_INVALID)
        for case in (INVALID, WRONG_CALL) if about_invalid else (*valid, INVALID, WRONG_CALL):
            repro = reproduction(case, Outcome(verdict, "run"))
            for text in (
                repro_text(repro, "It breaks", VERSIONS),
                pytest_text(repro, "It breaks", VERSIONS, "test_it"),
            ):
                files.append(tmp_path / f"{len(files)}.py")
                files[-1].write_text(text)
    assert len(files) == 88
    assert not complaints(files)


def test_every_script_of_the_corpus_agrees(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--repros-full"):
        pytest.skip("needs --repros-full")
    # Those of TIRx alone run in its environment (``tests.test_corpus``).
    chosen = {
        name: entry for name, entry in ENTRIES.items() if not is_alone(entry.expected.environment)
    }
    output = run_scripts(tmp_path, chosen.values())
    declared = {
        name: entry.expected.verdict(metadata.version("apache-tvm"), fixes=False)
        for name, entry in chosen.items()
    }
    assert None not in declared.values()
    codes = {name: code for name, (code, _) in output.items()}
    assert codes == {
        name: int(bool(verdict and verdict.is_failure)) for name, verdict in declared.items()
    }


# A stand-in for TVM: whatever is called works, but the first call does what a test wants done.
STUB = """
from unittest.mock import MagicMock

def Var(*arguments):
    {does}

relax, target, runtime, cpu = MagicMock(), MagicMock(), MagicMock(), MagicMock()
relax.Var = Var
"""


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


WRONG_CALL = Case("toy", PROGRAM, expect=Mismatch("x", ("shape[0]", "dimension 0"), (2, 3)))
BARE = "raise ValueError('the output padding 3 is too large')"
INVALID_OPERAND = Case(
    "toy",
    Program(
        (Input("augend", (2,), "int8"), Input("y", (2,), "int8")),
        (Node("sum", "add", ("augend", "y")),),
        ("sum",),
    ),
    expect=Invalid("add", ("output_padding",)),
)


OPERAND = "raise TypeError('augend must have a float dtype')"
ASSERTED = "raise RuntimeError('Check failed: (output_padding < 3) is false: ')"
LOOKED_UP = "raise KeyError('output padding')"
SHOWN = "raise ValueError('cannot lower R.add(x, output_padding=[3])')"
FITTING = "raise ValueError('x: dimension 0 is 3, not 2')"
NAMED = "raise ValueError('Add: the output padding 3 is too large')"
REFUSED = "raise ValueError('relax.add is not supported for this shape')"
VAGUE = "raise ValueError('not supported')"
PARTLY = "raise ValueError('padding is not supported')"
UNNAMED = "raise ValueError('Check failed: i < n')"


@pytest.mark.parametrize(
    ("case", "verdict", "does", "code", "fragment"),
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
        (INVALID, Verdict.OPAQUE_CRASH, BARE, 0, "output padding 3"),
        (INVALID_OPERAND, Verdict.OPAQUE_CRASH, OPERAND, 0, "augend"),
        (INVALID, Verdict.OPAQUE_CRASH, ASSERTED, 1, "Check failed"),
        (INVALID, Verdict.OPAQUE_CRASH, LOOKED_UP, 1, "KeyError"),
        (INVALID, Verdict.OPAQUE_CRASH, SHOWN, 1, "cannot lower"),
        (WRONG_CALL, Verdict.OPAQUE_CRASH, FITTING, 0, "dimension 0"),
        (WRONG_CALL, Verdict.OPAQUE_CRASH, BARE, 1, "output padding 3"),
    ],
)
def test_a_script_tells_by_what_tvm_does(
    tmp_path: Path, case: Case, verdict: Verdict, does: str, code: int, fragment: str
) -> None:
    repro = reproduction(case, Outcome(verdict, "emit"), Limits(seconds=3))
    output = run_with_stub(tmp_path, does, repro_text(repro, "It breaks", VERSIONS))
    assert output[0] == code, output[1]
    assert fragment in output[1]


KILLED = "import os; os.kill(os.getpid(), 9)"
CRASHED = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"


@pytest.mark.parametrize(
    ("verdict", "ending", "does", "code"),
    [
        (Verdict.PROCESS_DEATH, Ending("SIGSEGV"), CRASHED, 1),
        (Verdict.PROCESS_DEATH, Ending("SIGSEGV"), "import os; os.abort()", 2),
        (Verdict.PROCESS_DEATH, Ending("SIGSEGV"), KILLED, 2),
        (Verdict.PROCESS_DEATH, Ending("SIGSEGV"), UNNAMED, 0),
        (Verdict.PROCESS_DEATH, Ending("SIGKILL"), KILLED, 1),
        (Verdict.PROCESS_DEATH, Ending(), KILLED, 2),
        (Verdict.TIMEOUT, Ending(seconds=3), KILLED, 2),
        (Verdict.OUT_OF_MEMORY, Ending(grown=3 << 20), KILLED, 2),
        (Verdict.OUT_OF_MEMORY, Ending(grown=3 << 20), CRASHED, 1),
    ],
)
def test_another_signal_than_the_recorded_one_tells_nothing(
    tmp_path: Path, verdict: Verdict, ending: Ending, does: str, code: int
) -> None:
    repro = reproduction(Case("toy", PROGRAM), Outcome(verdict, "emit", ending=ending))
    text = repro_text(repro, "It breaks", VERSIONS)
    assert "\nand with 2 where" in text
    output = run_with_stub(tmp_path, does, text)
    assert output[0] == code, output[1]
    assert (f"ended by {'SIGKILL' if does is KILLED else 'SIG'}" in output[1]) is bool(code)


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
    repro = reproduction(case, Outcome(Verdict.WRONG_VALUE, "compare", checks=checks))
    drawn = repro.runs[0].inputs
    right = (drawn["x"] + drawn["y"]).tolist()
    does = f"import numpy as np; {GIVES} = np.array({right}, 'uint64'){change}"
    output = run_with_stub(tmp_path, does, repro_text(repro, "It breaks", VERSIONS))
    assert (output[0], "expected:" in output[1]) == (code, True), output[1]
    assert "Traceback" not in output[1]
    test = pytest_text(repro, "It breaks", VERSIONS, "test_it")
    assert 'assert (found.shape, str(found.dtype)) == ((2,), "uint64")' in test
