"""An invalid program that TVM computes comes with the results and errors that show it."""

from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch

from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.core.values import Array, arrays
from relaxcheck.generators.families import every
from relaxcheck.harness.campaign.drawing import keep_hypothesis_in, stream
from relaxcheck.harness.known.corpus import entry
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs import execute as execution
from relaxcheck.harness.programs.execute import execute
from relaxcheck.harness.programs.invalid import objections as module
from relaxcheck.harness.programs.invalid.objections import objections, returned
from relaxcheck.oracles.answer import Unsupported

pytestmark = pytest.mark.tvm

PROGRAM = Program((Input("x", (2,), "float32"),), (Node("y", "nn.relu", ("x",)),), ("y",))
ARRAYS = {"x": np.ones(2, "float32")}


def test_small_results_are_shown_whole() -> None:
    large, small = np.zeros((2, 3), "float32"), np.array([1.5], "float16")
    assert returned([large, small]) == "returned float32 (2, 3); float16 (1,): [1.5]"
    assert returned([np.zeros((0,), "int8")]) == "returned int8 (0,)"


def refuses(program: Program, arrays: Mapping[str, Array]) -> tuple[Array, ...]:
    torch.nn.functional.max_pool1d(torch.ones(1, 1, 1), 3)
    raise AssertionError


def computes(program: Program, arrays: Mapping[str, Array]) -> tuple[Array, ...]:
    return (np.zeros((2, 3)),)


def is_wrong(program: Program, arrays: Mapping[str, Array]) -> tuple[Array, ...]:
    raise KeyError("ours")


def cannot(program: Program, arrays: Mapping[str, Array]) -> tuple[Array, ...]:
    raise Unsupported("no kernel")


def test_fresh_memory_among_the_results_is_called_so() -> None:
    fresh = np.frombuffer(b"\x55" * 4, "float32")
    assert returned([fresh]).endswith("[14660154687488.0], of memory that nothing wrote")
    assert returned([np.full(1, 0x55, "int8")]) == "returned int8 (1,): [85]"


def test_only_errors_of_the_oracles_themselves_count(monkeypatch: pytest.MonkeyPatch) -> None:
    named = {"a": refuses, "b": computes, "c": is_wrong, "d": cannot}
    monkeypatch.setattr(module, "ORACLES", named)
    (refusal,) = objections(PROGRAM, ARRAYS)
    assert refusal.startswith("a refuses it: RuntimeError: ")


def test_onnxruntime_is_asked_for_the_call_itself() -> None:
    """Its words are about Squeeze, and have no line of its C++."""
    squeezed = Node("y", "squeeze", ("x",), {"axis": (1,)})
    program = Program((Input("x", (1, 2), "float32"),), (squeezed,), ("y",))
    lines = list(objections(program, {"x": np.ones((1, 2), "float32")}))
    (line,) = (each for each in lines if each.startswith("ONNX Runtime refuses it: "))
    assert "while running Squeeze node" in line
    assert "Status Message: Dimension of input 1 must be 1 instead of 2" in line


def test_errors_of_our_own_code_are_none_of_the_oracles() -> None:
    """Each of these fails within the code that calls PyTorch, or makes the ONNX model."""
    shuffled = Node("y", "nn.pixel_shuffle", ("x",), {"upscale_factor": 0})
    program = Program((Input("x", (1, 4, 2, 2), "float32"),), (shuffled,), ("y",))
    lines = list(objections(program, {"x": np.ones((1, 4, 2, 2), "float32")}))
    assert all("ZeroDivisionError" not in line for line in lines)
    assert not any(line.startswith("onnxruntime") for line in lines)


def test_every_line_about_a_fault_is_an_error_of_the_package_itself(tmp_path: Path) -> None:
    """Draw invalid programs of every family: no line has the error of our own Python."""
    # PyTorch has sentences of its own on what is out of range.
    ours = (
        "zip()",
        "index out of range",
        "substring not found",
        "ZeroDivision",
        "Validation",
        "Stop",
    )
    seen = []
    keep_hypothesis_in(tmp_path)
    families = [each for each in every(("build",)) if each.name != "dynamic" and each.invalid]
    for case in islice(stream(families, 7), 1500):
        if type(case.expect) is Invalid and isinstance(case, Case) and not case.program.symbols:
            seen += list(objections(case.program, arrays(case, 0)))
    assert len(seen) > 20
    assert [line for line in seen if any(text in line for text in ours)] == []


def test_the_outcome_ends_in_the_line_that_tells_failures_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Memory of a process that ran other tests need not be fresh: test_undefined.py looks at that.
    about = "The result depends on memory that nothing wrote."
    monkeypatch.setattr(execution, "undefined_output", lambda *arguments: about)
    outcome = execute(entry("avg-pool2d-no-elements").case)
    assert outcome.verdict is Verdict.ACCEPTS_INVALID
    assert headline(outcome.message) == "compiled and ran, though invalid by its pool_size"
    lines = outcome.message.splitlines()
    assert lines[0] == "returned float32 (1, 1, 3, 3)"
    assert "PyTorch refuses it: RuntimeError: kernel size should be greater than zero" in lines[1]
    assert lines[2].startswith("ONNX Runtime refuses it: ")
    assert lines[3] == about
    assert len(lines) == 5
