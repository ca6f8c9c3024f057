"""The files of a finding's folder that are rendered from the other two: the script, the issue."""

from generators.cases import AnyCase
from generators.program import Case, CaseError
from harness.corpus import ISSUE, SCRIPT, Record
from harness.fingerprint import fingerprint, kind_of
from harness.jobs import Limits
from harness.outcome import Outcome
from harness.reproduction import Reproduction, reproduction
from reports.issue import Came
from reports.pasting import About, pasted


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
    )
    script, issue = pasted(case, outcome, record.title, about, Limits(seconds=record.seconds))
    return {SCRIPT: script, ISSUE: issue}


def reproduced(case: AnyCase, record: Record) -> Reproduction:
    """What has to be done to see again what ``record`` holds of ``case``, which is a program.

    Raises:
        CaseError: it is none, nothing is recorded of it, or nothing that a script could show.
    """
    outcome = _outcome(case, record)
    if not isinstance(case, Case):
        raise CaseError(f"case {case.identifier} is no program")
    return reproduction(case, outcome, Limits(seconds=record.seconds))


def _outcome(case: AnyCase, record: Record) -> Outcome:
    if record.outcome is None:
        raise CaseError(f"case {case.identifier}: nothing is recorded of it yet")
    return record.outcome


def releases(case: AnyCase, record: Record) -> dict[str, Came]:
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
