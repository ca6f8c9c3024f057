"""The files of a finding's folder that are rendered from the other two: the script, the issue."""

from generators.program import Case, CaseError
from harness.corpus import ISSUE, SCRIPT, Record
from harness.fingerprint import fingerprint, kind_of
from harness.jobs import Limits
from harness.reproduction import Reproduction, reproduction
from reports.issue import Came, issue_text
from reports.repro import repro_text


def rendered(case: Case, record: Record) -> dict[str, str]:
    """``repro.py`` and ``issue.md`` of ``case``, by name. The same data gives the same texts.

    Raises:
        CaseError: ``record`` has no outcome, or one that no script could show.
    """
    what = reproduced(case, record)
    script = repro_text(what, record.title, record.environment)
    issue = issue_text(
        what,
        record.title,
        script,
        record.environment,
        attribution=record.attribution,
        culprit=record.culprit,
        releases=releases(case, record),
        known=record.issue,
    )
    return {SCRIPT: script, ISSUE: issue}


def reproduced(case: Case, record: Record) -> Reproduction:
    """What has to be done to see again what ``record`` holds of ``case``. Raises ``CaseError``."""
    if record.outcome is None:
        raise CaseError(f"case {case.identifier}: nothing is recorded of it yet")
    return reproduction(case, record.outcome, Limits(seconds=record.seconds))


def releases(case: Case, record: Record) -> dict[str, Came]:
    """What came of ``case`` without the fixes on each release.

    It failed alike where the failure has the fingerprint of the one that is recorded.
    """
    if record.outcome is None:
        return {name: Came(by.get("off")) for name, by in record.verdicts.items()}
    own = fingerprint(kind_of(case, record.outcome), record.blame)
    return {
        name: Came(by.get("off"), record.alike[name] == own if name in record.alike else None)
        for name, by in record.verdicts.items()
    }
