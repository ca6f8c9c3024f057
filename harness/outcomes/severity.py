"""Severity: how much a failure is worth to those who maintain TVM."""

import enum

from relaxcheck.generators.core.case import Expectation, Invalid, Refusable
from relaxcheck.harness.outcomes.outcome import Verdict


class Severity(enum.StrEnum):
    """The members are in order, the worst first; ``MEANINGS`` describes each."""

    WRONG_RESULT = "wrong result"
    CRASH = "crash"
    BROKEN_MODULE = "broken module"
    UNSUPPORTED = "unsupported"
    ERROR_MESSAGE = "error message"


MEANINGS = {
    Severity.WRONG_RESULT: "a wrong value, shape or dtype, or an invalid program that computes",
    Severity.CRASH: (
        "a valid program is not compiled or run, or any program ends the process, runs past its "
        "deadline or takes all memory"
    ),
    Severity.BROKEN_MODULE: "a pass returns a module that a check refuses, and the result is right",
    Severity.UNSUPPORTED: "a valid program is refused, and the error says what is not supported",
    Severity.ERROR_MESSAGE: (
        "an invalid or ill-formed program is refused without saying what is wrong with it"
    ),
}

_BY_VERDICT = {
    Verdict.UNSUPPORTED: Severity.UNSUPPORTED,
    Verdict.SILENT_BAIL: Severity.CRASH,
    Verdict.OPAQUE_CRASH: Severity.CRASH,
    Verdict.BROKEN_MODULE: Severity.BROKEN_MODULE,
    Verdict.ACCEPTS_INVALID: Severity.WRONG_RESULT,
    Verdict.WRONG_SHAPE: Severity.WRONG_RESULT,
    Verdict.WRONG_DTYPE: Severity.WRONG_RESULT,
    Verdict.WRONG_VALUE: Severity.WRONG_RESULT,
    Verdict.PROCESS_DEATH: Severity.CRASH,
    Verdict.TIMEOUT: Severity.CRASH,
    Verdict.OUT_OF_MEMORY: Severity.CRASH,
}

_REFUSED = frozenset({Verdict.UNSUPPORTED, Verdict.SILENT_BAIL, Verdict.OPAQUE_CRASH})
"""Verdicts of a program that does not run, and whose process lives on."""


_ORDER = (
    *(Severity.WRONG_RESULT, Severity.CRASH, Severity.BROKEN_MODULE, Severity.UNSUPPORTED),
    *(None, Severity.ERROR_MESSAGE),
)


def severity_of(verdict: Verdict, expected: Expectation) -> Severity | None:
    """The severity of ``verdict`` on a program of which ``expected`` is expected.

    None if the verdict does not count against TVM.
    """
    if isinstance(expected, Invalid | Refusable) and verdict in _REFUSED:
        return Severity.ERROR_MESSAGE
    return _BY_VERDICT.get(verdict)


def rank(severity: Severity | None) -> int:
    """The position of ``severity`` in the order of findings: 0 is the worst.

    Verdicts that need a person's judgement (None) come before error messages.
    """
    return _ORDER.index(severity)


def fails_run(severity: Severity | None) -> bool:
    """True if a new finding of ``severity`` makes a run fail: error messages alone do not."""
    return severity is not None and severity is not Severity.ERROR_MESSAGE
