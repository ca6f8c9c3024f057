"""Questions in lots have the answers that they have alone."""

import os
import signal
from collections.abc import Callable

import pytest

from relaxcheck.fixes.framework.asking import AskingError
from tests.fixes.framework.lots import answers


def yes() -> bool:
    return True


def no() -> bool:
    return False


def die() -> bool:
    os.kill(os.getpid(), signal.SIGSEGV)
    return False


def fail() -> bool:
    raise KeyError("nothing")


@pytest.mark.parametrize(
    ("questions", "expected"),
    [
        ([], []),
        ([yes, no, no, yes], [True, False, False, True]),
        ([die, no], [True, False]),
        ([no, die, die, no, die], [False, True, True, False, True]),
    ],
)
def test_each_has_its_answer(questions: list[Callable[[], bool]], expected: list[bool]) -> None:
    assert answers(questions) == expected


def test_a_death_that_an_earlier_question_caused_is_not_blamed_on_a_later() -> None:
    spoilt = []

    def spoil() -> bool:
        spoilt.append(True)
        return False

    assert answers([spoil, lambda: die() if spoilt else False, no]) == [False, False, False]


def test_a_question_that_raises_is_an_error() -> None:
    with pytest.raises(AskingError, match="nothing"):
        answers([no, fail, no])
