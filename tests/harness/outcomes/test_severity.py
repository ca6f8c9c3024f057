import pytest

from relaxcheck.generators.core.case import (
    Expectation,
    IllFormed,
    Invalid,
    Mismatch,
    Refusable,
    Valid,
)
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.outcomes.severity import (
    MEANINGS,
    Severity,
    fails_run,
    rank,
    severity_of,
)

VALID, INVALID = Valid(), Invalid("nn.x", ("groups",))
CALL = Mismatch("x", ("dimension 0",), (2, 3))
UNDEFINED = IllFormed(("m",))


@pytest.mark.parametrize(
    ("verdict", "valid", "invalid"),
    [
        (Verdict.WRONG_VALUE, Severity.WRONG_RESULT, Severity.WRONG_RESULT),
        (Verdict.WRONG_SHAPE, Severity.WRONG_RESULT, Severity.WRONG_RESULT),
        (Verdict.WRONG_DTYPE, Severity.WRONG_RESULT, Severity.WRONG_RESULT),
        (Verdict.ACCEPTS_INVALID, Severity.WRONG_RESULT, Severity.WRONG_RESULT),
        (Verdict.PROCESS_DEATH, Severity.CRASH, Severity.CRASH),
        (Verdict.TIMEOUT, Severity.CRASH, Severity.CRASH),
        (Verdict.OUT_OF_MEMORY, Severity.CRASH, Severity.CRASH),
        (Verdict.OPAQUE_CRASH, Severity.CRASH, Severity.ERROR_MESSAGE),
        (Verdict.SILENT_BAIL, Severity.CRASH, Severity.ERROR_MESSAGE),
        (Verdict.UNSUPPORTED, Severity.UNSUPPORTED, Severity.ERROR_MESSAGE),
    ],
)
def test_verdict_and_expectation_decide(
    verdict: Verdict, valid: Severity, invalid: Severity
) -> None:
    assert severity_of(verdict, VALID) is valid
    assert severity_of(verdict, INVALID) is severity_of(verdict, CALL) is invalid


@pytest.mark.parametrize("expected", [VALID, INVALID, CALL, UNDEFINED])
def test_every_failure_has_a_severity_and_nothing_else(expected: Expectation) -> None:
    for verdict in Verdict:
        assert (severity_of(verdict, expected) is not None) is verdict.is_failure


def test_an_ill_formed_program_may_be_refused_but_not_computed_wrongly() -> None:
    for expected in (UNDEFINED, Refusable()):
        assert severity_of(Verdict.OPAQUE_CRASH, expected) is Severity.ERROR_MESSAGE
    assert severity_of(Verdict.WRONG_VALUE, UNDEFINED) is Severity.WRONG_RESULT
    assert severity_of(Verdict.PROCESS_DEATH, UNDEFINED) is Severity.CRASH


def test_the_worst_is_first_and_what_is_undecided_precedes_error_messages() -> None:
    ordered = sorted([*Severity, None], key=rank)
    assert ordered == [
        *(Severity.WRONG_RESULT, Severity.CRASH, Severity.BROKEN_MODULE, Severity.UNSUPPORTED),
        *(None, Severity.ERROR_MESSAGE),
    ]
    assert [severity for severity in ordered if fails_run(severity)] == ordered[:4]
    assert set(MEANINGS) == set(Severity)
