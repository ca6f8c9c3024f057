"""Tests run in groups, in processes that may die or hang."""

import os
import signal
import time
from collections.abc import Iterator

import pytest

from relaxcheck.harness.onnx.suite import running
from relaxcheck.harness.onnx.suite.results import Result, passed
from relaxcheck.harness.onnx.suite.running import executed, results
from relaxcheck.harness.onnx.suite.tests import SuiteTest, suite
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.workers.switching import switch_fixes


@pytest.fixture(autouse=True)
def _alone() -> None:
    switch_fixes(False)


def of(*names: str) -> list[SuiteTest]:
    by_name = {test.name: test for test in suite("node")}
    return [by_name[name] for name in names]


def test_a_group_is_judged_as_its_members_alone() -> None:
    group = of("test_add", "test_adam", "test_isinf_positive", "test_sequence_insert_at_back")
    together = list(executed(group))
    assert together == [result for test in group for result in executed([test])]
    assert [result.verdict for result in together[:3]] == [
        Verdict.PASS,
        Verdict.UNSUPPORTED,
        Verdict.WRONG_VALUE,
    ]
    assert together[2].message == "output y: 1 of 6 elements differ"


def test_sequences_and_several_outputs_are_compared() -> None:
    names = ("test_split_to_sequence_nokeepdims", "test_split_equal_parts_1d_opset18")
    assert [result.verdict for result in executed(of(*names))] == [Verdict.PASS] * 2


def test_a_shape_as_output_is_no_tensor() -> None:
    (result,) = executed(of("test_shape_start_1"))
    assert (result.verdict, result.message) == (
        Verdict.WRONG_DTYPE,
        "output y: a Shape, not a tensor",
    )


def bad(at: str, deed: str) -> object:
    """``executed``, but ``deed`` happens instead of the test named ``at``."""

    def executes(group: list[SuiteTest]) -> Iterator[Result]:
        for test in group:
            if test.name == at:
                match deed:
                    case "dies":
                        os.kill(os.getpid(), signal.SIGSEGV)
                    case "hangs":
                        time.sleep(60)
                    case "spins":
                        while True:
                            pass
                    case "raises":
                        raise ZeroDivisionError("ours")
            yield passed(test)

    return executes


@pytest.mark.parametrize(
    ("deed", "seconds", "verdict", "message"),
    [
        ("dies", 60, Verdict.PROCESS_DEATH, "SIGSEGV"),
        ("hangs", 0.2, Verdict.TIMEOUT, "no end after 0.2 s"),
        # It is ended by the time of the processor.
        ("spins", 1, Verdict.TIMEOUT, "no end after 1 s"),
        ("raises", 60, Verdict.HARNESS_ERROR, "ZeroDivisionError: ours"),
    ],
)
def test_one_bad_member_costs_only_itself(
    deed: str,
    seconds: float,
    verdict: Verdict,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    group = of("test_abs", "test_add", "test_sub")
    monkeypatch.setattr(running, "executed", bad("test_add", deed))
    first, second, third = results(group, fixes=False, seconds=seconds)
    assert first == passed(group[0])
    assert third == passed(group[2])
    assert (second.name, second.verdict) == ("test_add", verdict)
    assert message in second.message
