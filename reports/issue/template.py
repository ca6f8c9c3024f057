"""The parts of an issue in TVM's own bug-report template that every kind of case shares."""

import re

from relaxcheck.harness.compiling.undefined import UNDEFINED
from relaxcheck.harness.outcomes.errors import corrupts_heap
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.plain import DOES, where
from relaxcheck.reports.rendering import Came
from relaxcheck.reports.templating import environment

TEMPLATES = environment()

_FILLED = ", also where heap and stack are filled"
_MAYBE_RIGHT = " where heap and stack are filled; else it may be right by chance"
"""Of undefined memory: a release runs the case with heap and stack filled, a script with neither
or the heap alone, and a fresh page may hold the right result."""

PACKAGES = ("apache-tvm", "numpy", "torch", "python", "platform", "build")
"""The parts of the environment that an issue mentions."""


def on_release(came: Came, seen: Outcome) -> str:
    """The behaviour of a release, compared with the outcome ``seen`` that the issue is about."""
    if came.verdict is None:
        return "could not be run on it"
    undefined = came.undefined or UNDEFINED in seen.details
    if came.verdict is Verdict.PASS:
        return f"passes{_FILLED if undefined else ''}"
    if came.verdict is Verdict.REJECTED:
        return "refuses it, as it should"
    if corrupts_heap(seen.message) and not came.verdict.is_failure:
        return "not known: it is chance if a corrupted heap is noticed"
    if not came.verdict.is_failure:
        return f"not known: it {DOES[came.verdict]}"
    # Of an invalid program that nothing checks, all failures have one cause, but do not look alike.
    if came.alike and (came.verdict is seen.verdict or not seen.verdict.is_failure):
        return f"fails in this way{_MAYBE_RIGHT if undefined else ''}"
    words = DOES[came.verdict]
    if came.alike is None or not seen.verdict.is_failure:
        return f"fails: it {words}"
    # The same verdict alone does not make it the same cause.
    if came.verdict is seen.verdict:
        return "fails too, but elsewhere or in other words"
    return f"fails in another way: it {words}"


_ENDED = re.compile(r"^worker ended with (\w+) in \w+")


def process_words(message: str, outcome: Outcome) -> str:
    """``message`` for a reader who knows no workers and no stages of ours."""
    at = where(outcome.stage)
    return _ENDED.sub(rf"the process ended with \1{f' {at}' if at else ''}", message)
