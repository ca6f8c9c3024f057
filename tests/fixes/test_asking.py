"""A question in a child process: its answer, its death, its exception, and its silence."""

import os
import signal
import time
from pathlib import Path

import pytest

from fixes.asking import AskingError, asked, unheard


def die(number: signal.Signals) -> bool:
    os.kill(os.getpid(), number)
    return False


def test_the_answer_is_that_of_the_question() -> None:
    assert asked(lambda: True) == (True, 0)
    assert asked(lambda: False) == (False, 0)


@pytest.mark.parametrize("number", [signal.SIGABRT, signal.SIGSEGV, signal.SIGFPE])
def test_a_death_is_a_yes(number: signal.Signals, capfd: pytest.CaptureFixture[str]) -> None:
    assert asked(lambda: die(number)) == (True, number)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_an_end_from_outside_says_nothing(number: signal.Signals) -> None:
    with pytest.raises(AskingError, match=f"ended by {number.name}"):
        asked(lambda: die(number))


def test_what_a_question_raises_is_told_in_one_line() -> None:
    def fail() -> bool:
        raise KeyError("no\nthing")

    with pytest.raises(AskingError, match=r"^KeyError: 'no\\nthing'$"):
        asked(fail)


def test_a_question_that_ends_otherwise_is_a_fault_of_ours() -> None:
    with pytest.raises(AskingError, match="ended with 7"):
        asked(lambda: os._exit(7))


def test_a_question_without_an_answer_dies_of_its_deadline() -> None:
    began = time.monotonic()
    assert asked(lambda: time.sleep(60) is None, seconds=1) == (True, signal.SIGALRM)
    assert time.monotonic() - began < 30


def test_what_a_question_changes_is_gone_with_it(tmp_path: Path) -> None:
    seen: list[int] = []
    assert asked(lambda: seen.append(1) is None) == (True, 0)
    assert seen == []


def test_what_is_written_to_standard_error_meanwhile_is_not_heard(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with unheard():
        os.write(2, b"from C++")
    os.write(2, b"afterwards")
    assert capfd.readouterr().err == "afterwards"


def test_standard_error_is_there_again_after_an_exception(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(ValueError, match="x"), unheard():
        raise ValueError("x")
    os.write(2, b"afterwards")
    assert capfd.readouterr().err == "afterwards"
