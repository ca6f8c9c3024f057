"""Faults of eager PyTorch: the smallest example of each, which the oracle is not asked about."""

import subprocess
import sys

import numpy as np
import pytest

from relaxcheck.generators.torch.program import Node, Program, Ref, Tensor
from relaxcheck.oracles.outside import NoAnswer
from relaxcheck.oracles.torch.answers import Question, answer
from relaxcheck.oracles.torch.faults import FAULTS, Fault

SEGMENTS = """
import torch
offsets = torch.tensor([[0, 0, 1, 3, 5]] * 5)
for rows in (7, 70000):
    torch.segment_reduce(torch.ones(rows, 5), "prod", axis=1, offsets=offsets, initial=2)
"""
CHANNELS = """
import torch
for channels in (3, 100000) * 20:
    statistics = (torch.ones(2), torch.ones(2), torch.ones(2), torch.ones(2))
    torch.ops.aten.{}(torch.ones(3, channels, 4), *statistics, {}0.1, 1e-5)
"""
DIES = {
    "torch.segment_reduce": SEGMENTS,
    "torch.ops.aten._batch_norm_with_update.default": CHANNELS.format(
        "_batch_norm_with_update", ""
    ),
    "torch.ops.aten._native_batch_norm_legit.default": CHANNELS.format(
        "_native_batch_norm_legit", "True, "
    ),
    "torch.ops.aten.native_batch_norm.default": CHANNELS.format("native_batch_norm", "True, "),
    "torch.native_batch_norm": CHANNELS.format("native_batch_norm", "True, "),
}
"""Scripts that end a process, by the function at fault."""


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


def test_statistics_of_other_channels_are_not_asked_about() -> None:
    names = ("weight", "bias", "mean", "variance")
    tensors = (Tensor("x", (3, 4, 2)), *(Tensor(name, (2,)) for name in names))
    call = (Ref("x"), *map(Ref, names), True, 0.1, 1e-5)
    node = Node("torch.ops.aten.native_batch_norm.default", call, outputs=("y",))
    arrays = {each.name: np.ones(each.shape, np.float32) for each in tensors}
    program = Program(tensors, (node,), ("y",))
    with pytest.raises(NoAnswer, match="number of channels"):
        answer(Question(program, arrays, 0, "normal"))
    arrays["x"] = np.ones((3, 2, 2), np.float32)
    assert answer(Question(program, arrays, 0, "normal")).outputs[0].value.shape == (3, 2, 2)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.target)
def test_the_fault_is_still_there(fault: Fault) -> None:
    command = [sys.executable, "-c", DIES[fault.target]]
    ended = subprocess.run(command, capture_output=True, timeout=120)
    assert ended.returncode < 0, "PyTorch compares them now: remove the fault"
