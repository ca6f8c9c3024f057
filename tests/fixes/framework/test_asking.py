"""A question in a child process: its answer, death, exception and timeout."""

import os
import signal
import time
from pathlib import Path

import pytest

from relaxcheck.fixes.framework.asking import AskingError, ask_child, stderr_discarded


def die(number: signal.Signals) -> bool:
    os.kill(os.getpid(), number)
    return False


def test_the_answer_is_that_of_the_question() -> None:
    assert ask_child(lambda: True) == (True, 0)
    assert ask_child(lambda: False) == (False, 0)


@pytest.mark.parametrize("number", [signal.SIGABRT, signal.SIGSEGV, signal.SIGFPE])
def test_a_death_is_a_yes(number: signal.Signals, capfd: pytest.CaptureFixture[str]) -> None:
    assert ask_child(lambda: die(number)) == (True, number)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_an_end_from_outside_says_nothing(number: signal.Signals) -> None:
    with pytest.raises(AskingError, match=f"ended by {number.name}"):
        ask_child(lambda: die(number))


def test_the_error_of_a_question_is_one_line() -> None:
    def fail() -> bool:
        raise KeyError("no\nthing")

    with pytest.raises(AskingError, match=r"^KeyError: 'no\\nthing'$"):
        ask_child(fail)


def test_a_question_that_ends_otherwise_is_a_fault_of_ours() -> None:
    with pytest.raises(AskingError, match="ended with 7"):
        ask_child(lambda: os._exit(7))


def test_a_question_without_an_answer_dies_of_its_deadline() -> None:
    began = time.monotonic()
    assert ask_child(lambda: time.sleep(60) is None, seconds=1) == (True, signal.SIGALRM)
    assert time.monotonic() - began < 30


def test_changes_by_a_question_do_not_outlast_it(tmp_path: Path) -> None:
    seen: list[int] = []
    assert ask_child(lambda: seen.append(1) is None) == (True, 0)
    assert seen == []


def test_standard_error_of_a_question_is_discarded(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with stderr_discarded():
        os.write(2, b"from C++")
    os.write(2, b"afterwards")
    assert capfd.readouterr().err == "afterwards"


def test_standard_error_is_there_again_after_an_exception(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(ValueError, match="x"), stderr_discarded():
        raise ValueError("x")
    os.write(2, b"afterwards")
    assert capfd.readouterr().err == "afterwards"
