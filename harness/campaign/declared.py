"""Declared findings in a campaign: their cases run first, and they explain failures like them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from relaxcheck.extensions.naming import is_own
from relaxcheck.extensions.pipelines import refusal
from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.campaign.campaign import Plan
from relaxcheck.harness.campaign.state import State
from relaxcheck.harness.known.expected_failures import Known, KnownFinding
from relaxcheck.harness.known.status import FindingStatus
from relaxcheck.harness.triage.finding import Finding


def with_declared(plan: Plan, declared: Sequence[Known], versions: Sequence[str]) -> Plan:
    """``plan`` with the findings ``declared`` for ``versions`` that its families can draw."""
    known = {earlier.fingerprint: earlier for earlier in plan.known}
    for finding in _concerned(declared, versions, plan):
        known.setdefault(finding.fingerprint, finding)
    return replace(plan, known=tuple(known.values()))


def take_declared(state: State, declared: Sequence[Known], versions: Sequence[str]) -> None:
    """Count the status of the findings ``declared`` in a campaign with ``state``.

    An expired finding is no longer known, even if an earlier campaign has it. A finding that was
    not tried, and turned up all the same, still fails.
    """
    for entry in declared:
        if not (isinstance(entry, KnownFinding) and _concerns(entry, versions)):
            continue
        key = entry.finding.fingerprint
        now = state.findings.get(key)
        status = state.known.get(key, FindingStatus.UNTRIED)
        if now is not None:
            status = status if status is FindingStatus.OTHERWISE else FindingStatus.STILL
            state.expectations.failed(entry, max(now.count, 1))
        elif status is FindingStatus.GONE:
            state.expectations.passed(entry)
        if entry.expired(state.expectations.today):
            state.known.pop(key, None)
        elif now is not None or key in state.known:
            state.known[key] = status


def _concerns(finding: KnownFinding, versions: Sequence[str]) -> bool:
    return any(finding.concerns(version, fixes=finding.case.fixes) for version in versions)


def _is_refused(case: AnyCase) -> bool:
    """True if ``case`` is compiled by a pipeline of a user's own that this run does not have."""
    pipeline = str(getattr(case, "pipeline", ""))
    return is_own(pipeline) and bool(refusal(pipeline))


def _concerned(declared: Sequence[Known], versions: Sequence[str], plan: Plan) -> Iterator[Finding]:
    families = {family.name for family in plan.families}
    for entry in declared:
        if (
            isinstance(entry, KnownFinding)
            and entry.case.family in families
            and entry.case.fixes in plan.fixes
            and not _is_refused(entry.case)
            and _concerns(entry, versions)
        ):
            yield entry.finding
