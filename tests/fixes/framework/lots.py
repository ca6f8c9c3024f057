"""Asks many questions in few forked children: to fork a process with TVM costs more than most."""

import mmap
from collections.abc import Callable, Sequence

from relaxcheck.fixes.framework.asking import SECONDS, ask_child

_NO, _YES = 1, 2


def answers(questions: Sequence[Callable[[], bool]]) -> list[bool]:
    """The answers of ``questions``; True of one that ends the process, whichever come before it.

    Raises:
        AskingError: a question raises.
    """
    with mmap.mmap(-1, len(questions) or 1) as known:
        asked = 0
        while asked < len(questions):

            def ask_rest(first: int = asked) -> bool:
                for number in range(first, len(questions)):
                    known[number] = _YES if questions[number]() else _NO
                return False

            died, _ = ask_child(ask_rest, SECONDS * (len(questions) - asked))
            ended = next((n for n in range(asked, len(questions)) if not known[n]), None)
            if not died or ended is None:
                break
            if ended == asked:
                # The first of its process.
                known[ended] = _YES
                ended += 1
            asked = ended
        return [answer == _YES for answer in known[: len(questions)]]
