"""The files of a finding's folder that are rendered from its data: the script, the issue."""

from relaxcheck.generators.core.case import AnyCase, CaseError
from relaxcheck.harness.known.corpus import ISSUE, SCRIPT, Record
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.triage.fingerprint import fingerprint, signature_of
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.reports.issue.pasting import pasted
from relaxcheck.reports.kinds import rendering
from relaxcheck.reports.rendering import About, Came


def rendered(case: AnyCase, record: Record) -> dict[str, str]:
    """``repro.py`` and ``issue.md`` of ``case``, by name. The same data gives the same texts.

    Raises:
        CaseError: ``record`` has no outcome, or one that no script could show.
    """
    outcome = _outcome(case, record)
    about = About(
        record.environment,
        record.attribution,
        record.culprit,
        releases(case, record),
        record.issue,
        record.cure is not None and record.cure.patched,
        () if record.cure is None else record.cure.fixes,
        record.siblings,
        record.fault,
        record.symbolic,
    )
    script, issue = pasted(case, outcome, record.title, about, Limits(seconds=record.seconds))
    return {SCRIPT: script, ISSUE: issue}


def pytest_of(case: AnyCase, record: Record, name: str) -> str:
    """A test for TVM's own suite, a function ``name``, that shows the failure in ``record``.

    Raises:
        CaseError: there are no such tests of this kind of case, nothing is recorded of it, or
            nothing that a script could show.
    """
    limits = Limits(seconds=record.seconds)
    outcome = _outcome(case, record)
    return rendering(case).pytest(case, outcome, record.title, record.environment, name, limits)


def test_for_tvm(case: AnyCase, record: Record, name: str) -> str:
    """As ``pytest_of``, for a TVM that has the patch: it is not expected to fail."""
    limits = Limits(seconds=record.seconds)
    outcome = _outcome(case, record)
    return rendering(case).pytest(
        case, outcome, record.title, record.environment, name, limits, passes=True
    )


def _outcome(case: AnyCase, record: Record) -> Outcome:
    if record.outcome is None:
        raise CaseError(f"case {case.identifier}: nothing is recorded of it yet")
    return record.outcome


def releases(case: AnyCase, record: Record) -> dict[str, Came]:
    """The verdict on ``case`` without the fixes, by release.

    It failed alike where the failure has the fingerprint that is recorded.
    """
    if record.outcome is None:
        return {name: Came(by.get("off")) for name, by in record.verdicts.items()}
    own = fingerprint(signature_of(case, record.outcome), record.blame)
    return {
        name: Came(
            by.get("off"),
            record.alike[name] == own if name in record.alike else None,
            name in record.undefined,
        )
        for name, by in record.verdicts.items()
    }
