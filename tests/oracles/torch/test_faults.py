"""Faults of eager PyTorch: the smallest example of each, which the oracle is not asked about."""

import subprocess
import sys

import numpy as np
import pytest

from relaxcheck.generators.torch.program import Node, Program, Ref, Tensor
from relaxcheck.oracles.outside import NoAnswer
from relaxcheck.oracles.torch.answers import Question, answer
from relaxcheck.oracles.torch.faults import FAULTS

DIES = """
import torch
offsets = torch.tensor([[0, 0, 1, 3, 5]] * 5)
for rows in (7, 70000):
    torch.segment_reduce(torch.ones(rows, 5), "prod", axis=1, offsets=offsets, initial=2)
"""


def _segments(rows: int) -> Question:
    tensors = (Tensor("x", (rows, 5)), Tensor("at", (5, 2), "int64"))
    keywords = {"axis": 1, "offsets": Ref("at")}
    program = Program(tensors, (Node("torch.segment_reduce", (Ref("x"), "sum"), keywords),), ("y",))
    arrays = {"x": np.ones((rows, 5), np.float32), "at": np.array([[0, 5]] * 5)}
    return Question(program, arrays, 0, "normal")


def test_segments_of_other_rows_are_not_asked_about() -> None:
    with pytest.raises(NoAnswer, match="segment_reduce: it does not compare the rows"):
        answer(_segments(7))


def test_segments_of_the_same_rows_are() -> None:
    (output,) = answer(_segments(5)).outputs
    np.testing.assert_array_equal(output.value, np.full((5, 1), 5.0))


def test_the_fault_is_still_there() -> None:
    ended = subprocess.run([sys.executable, "-c", DIES], capture_output=True, timeout=120)
    assert ended.returncode < 0, "PyTorch compares them now: remove the fault"
    assert [each.target for each in FAULTS] == ["torch.segment_reduce"]
