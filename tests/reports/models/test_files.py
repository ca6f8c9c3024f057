"""The script of a part that is a Relax module shows the fault in a process of its own."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.harness.models.fault import Fault
from relaxcheck.harness.models.forcing import forced
from relaxcheck.harness.models.pieces.calls import TorchInput
from relaxcheck.harness.models.report import Piece, Report, Verdict
from relaxcheck.harness.outcomes.outcome import Verdict as Outcome
from relaxcheck.reports.models.files import ISSUE, SCRIPT, files
from relaxcheck.reports.models.torch_script import VALUES
from tests.harness.models.explaining.modules import imported

X = np.float32([[1, 2, 3], [4, 5, 6]])


def stored(name: str, array: np.ndarray) -> TorchInput:  # type: ignore[type-arg]
    return TorchInput(name, array.dtype.name, array.shape, array.shape, array.tobytes())


def report(verdict: Outcome, expected: "np.ndarray | None", stage: str = "run") -> Report:  # type: ignore[type-arg]
    batch = tvm_api.shape_var("batch")
    last = ("y", lambda x: relax.op.take(x, relax.const(-1, "int64"), 1, mode="fast"), ("x",))
    module = forced(imported({"x": ((batch, 3), "float32")}, last).module, ["y"]).module
    outputs = () if expected is None else (stored("y", expected),)
    fault = Fault(verdict, stage, "y: [0, 3] for [3, 6]", "value")
    piece = Piece(
        *(("node_y",), ("a.step",), fault, module.script(), 1),
        inputs=(stored("x", X),),
        expected=outputs,
    )
    return Report("model", "PyTorch", Verdict.WRONG, piece=piece)


def run(folder: Path, made: dict[str, bytes]) -> "subprocess.CompletedProcess[str]":
    for name, content in made.items():
        (folder / name).write_bytes(content)
    command = [sys.executable, SCRIPT]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("expected", "code"), [(X[:, 2], 1), pytest.param(None, 0, marks=pytest.mark.slow)]
)
def test_the_script_compares_with_captured_values(
    expected: "np.ndarray | None",  # type: ignore[type-arg]
    code: int,
    tmp_path: Path,
) -> None:
    wanted = X[:, 2] if expected is None else expected
    made = files(report(Outcome.WRONG_VALUE, wanted))
    assert set(made) == {SCRIPT, ISSUE, VALUES}
    if code == 0:
        # Right once the index is counted from the front.
        made[SCRIPT] = made[SCRIPT].replace(b"R.const(-1", b"R.const(2")
    ended = run(tmp_path, made)
    assert ended.returncode == code, ended.stderr
    assert "y of TVM: float32[2]" in ended.stdout


def test_without_values_there_is_no_script_of_a_wrong_value() -> None:
    assert files(report(Outcome.WRONG_VALUE, None)) == {}


def test_a_module_that_does_not_compile_needs_no_values() -> None:
    made = files(report(Outcome.OPAQUE_CRASH, None, "codegen"))
    assert set(made) == {SCRIPT, ISSUE}
    assert b"np.load" not in made[SCRIPT]
