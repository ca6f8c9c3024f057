"""The script of a piece shows the fault in a process of its own."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from relaxcheck.harness.models.compiling import Way
from relaxcheck.harness.models.fault import Fault
from relaxcheck.harness.models.pieces.calls import TorchPiece
from relaxcheck.harness.models.pieces.running import fault_of_piece
from relaxcheck.reports.models.torch_script import LINES, VALUES, script
from tests.harness.models.pieces.test_torch import piece_of

PLAIN = Way("build", plain=True)


def fault_of(piece: TorchPiece) -> Fault:
    fault = fault_of_piece(piece, PLAIN, lambda stage: None)
    assert fault is not None
    return fault


def run(text: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    (folder / "piece.py").write_text(text)
    command = [sys.executable, "piece.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "batch", [pytest.param(False, marks=pytest.mark.slow), True], ids=["static", "symbolic"]
)
def test_the_script_exits_with_1_and_prints_both_results(batch: bool, tmp_path: Path) -> None:
    piece = piece_of("select", batch=batch)
    text, stored = script(piece, fault_of(piece), "select of -1 is wrong", {"apache-tvm": "0.27.0"})
    assert not stored
    assert text.count("\n") <= LINES
    assert ("dynamic_shapes=" in text) is batch
    ended = run(text, tmp_path)
    assert ended.returncode == 1, ended.stderr
    assert "select of PyTorch: float32[2, 4]" in ended.stdout
    assert "select of TVM: float32[2, 4]" in ended.stdout


@pytest.mark.slow
def test_the_script_of_a_right_piece_exits_with_0(tmp_path: Path) -> None:
    fault = fault_of(piece_of("select"))
    text, _ = script(piece_of("getitem"), fault, "nothing is wrong", {}, fused=True)
    ended = run(text, tmp_path)
    assert ended.returncode == 0, ended.stderr + ended.stdout


@pytest.mark.slow
def test_captured_values_are_literals_or_lie_beside(tmp_path: Path) -> None:
    piece = piece_of("select", keeps=True)
    fault = fault_of(piece)
    text, stored = script(piece, fault, "select of -1 is wrong", {})
    assert not stored
    assert "rng" not in text
    (tensor,) = piece.inputs
    assert tensor.data is not None
    wide = replace(tensor, data=tensor.data * 4, shape=(8, 5, 4), dims=(8, 5, 4))
    larger = replace(piece, inputs=(wide,))
    text, stored = script(larger, fault, "select of -1 is wrong", {})
    np.savez(tmp_path / VALUES, **stored)  # type: ignore[arg-type]
    assert list(stored) == ["relu"]
    ended = run(text, tmp_path)
    assert ended.returncode == 1, ended.stderr
    assert "select of TVM: float32[8, 4]" in ended.stdout
