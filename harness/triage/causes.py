"""Causes: findings with one cause, as of sibling operators, are shown as one."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product, starmap

from relaxcheck.generators.core.axes import PIPELINE
from relaxcheck.generators.core.case import Valid
from relaxcheck.harness.kinds import of
from relaxcheck.harness.outcomes.deviation import is_slight
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.outcomes.severity import Severity, rank
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.triage.fingerprint import (
    OVERWRITTEN,
    WRONG,
    check_key,
    failed_check,
    in_pass,
    names_cause,
    place_key,
    raised_in,
    sibling_key,
)


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause: a finding, or several, as of sibling operators, the worst first.

    Of equally severe ones, a wrong value that somebody may call rounding comes last.
    """

    findings: tuple[Finding, ...]

    @property
    def lead(self) -> Finding:
        """The finding that stands for all."""
        return self.findings[0]

    @property
    def severity(self) -> Severity | None:
        """The severity of the worst finding."""
        return self.lead.severity

    @property
    def count(self) -> int:
        """The cases of all findings."""
        return sum(finding.count for finding in self.findings)

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators of the findings, each once."""
        return tuple(dict.fromkeys(finding.operator for finding in self.findings))

    @property
    def confirmed(self) -> bool | None:
        """True if its lead came again in fresh processes, False if not; None: not tried.

        The others need not: it is chance if memory that nothing wrote holds the right values, or if
        a process dies of a corrupted heap.
        """
        return self.lead.confirmed


def by_cause(findings: Sequence[Finding]) -> list[Cause]:
    """``findings`` by cause, the worst cause first.

    The order is by severity, then regressions, then by how many cases a cause has.
    """
    groups = _with_wider(_by_keys(findings))
    causes = [Cause(tuple(sorted(group, key=_order))) for group in groups]
    return sorted(causes, key=_cause_order)


def _by_keys(findings: Sequence[Finding]) -> list[list[Finding]]:
    """``findings``, those together that have any key in common, with each other or with others."""
    groups: list[tuple[set[object], list[Finding]]] = []
    for finding in findings:
        keys: set[object] = {(key, *_seen_on(finding)) for key in _keys(finding)}
        members = [finding]
        apart = []
        for group in groups:
            if group[0] & keys:
                keys |= group[0]
                members += group[1]
            else:
                apart.append(group)
        groups = [*apart, (keys, members)]
    return [members for _, members in groups]


def _with_wider(groups: list[list[Finding]]) -> list[list[Finding]]:
    """``groups``, each together with the only one whose blame explains it, if there is such.

    A blame that contains two others says nothing about which of them it is, nor that they are one.
    """
    numbers = range(len(groups))
    explaining = {
        number: [
            other
            for other in numbers
            if other != number and any(starmap(_explains, product(groups[other], groups[number])))
        ]
        for number in numbers
    }
    result = {number: groups[number] for number in numbers if not explaining[number]}
    for number in numbers:
        roots = [other for other in explaining[number] if not explaining[other]]
        if len(roots) == 1:
            result[roots[0]] = [*result[roots[0]], *groups[number]]
        elif explaining[number]:
            result[number] = groups[number]
    return list(result.values())


def _seen_on(finding: Finding) -> tuple[object, ...]:
    """The releases that it fails on; a regression is none of the causes that always were."""
    return finding.regression, *finding.releases.items()


def counted_causes(findings: Iterable[Finding], known: Container[str]) -> list[Cause]:
    """The causes that a campaign counts as its findings, the worst first.

    Error messages are not counted, nor are findings with a fingerprint in ``known``. Terminal,
    Markdown and web page count these.
    """
    new = [finding for finding in findings if finding.fingerprint not in known]
    return [cause for cause in by_cause(new) if cause.severity is not Severity.ERROR_MESSAGE]


def _keys(finding: Finding) -> Iterator[object]:
    """The keys of the cause of ``finding``: findings with any in common have one cause.

    The place of an error that says what is wrong is one, for one reason: which operators lead there
    is chance in a program that its seed decides, and does not matter elsewhere. Memory that nothing
    wrote over a size of 0 is one for all operators that are computed in the same way. What one fix
    of a single fault cures is one, whichever axes lead there; but errors of two checks are two. A
    fault of invalid programs that nothing refuses is one for all operators that one type rule
    checks.
    """
    signature, kind = finding.signature, of(finding.case)
    if not isinstance(finding.case.expect, Valid):
        yield sibling_key(signature, finding.blame, kind.group_by_check)
        return

    def group(operator: str) -> str:
        return kind.group_by_look(operator, signature.appearance)

    drawn = kind.by_structure(finding.case)
    place = place_key(signature)
    if place is not None and (drawn or names_cause(signature)):
        yield place
    names = signature.operator.split(" + ")
    groups = [*map(group, names)]
    if finding.mended_by:
        same = finding.mended_by, signature.verdict, signature.stage, signature.fixes
        # A fix that keeps a pass away from a call cures the errors of several checks in it.
        check = "" if signature.verdict in WRONG else check_key(signature)
        for each in (groups, map(kind.group, names)):
            yield *same, check, *each
        if signature.verdict not in WRONG and kind.is_over_nothing(finding.case):
            # Code that reads or writes an element that is not there raises, or ends the process.
            yield finding.mended_by, signature.fixes, *map(kind.group, names)
    if _over_nothing(finding):
        yield signature.verdict, signature.fixes, *groups, finding.blame.get(PIPELINE)
    if signature.verdict is Verdict.SILENT_BAIL and signature.appearance:
        # A shape is not known: whatever the operator, one branch of LegalizeOps leaves the call.
        yield signature.verdict, signature.fixes, finding.blame.get(PIPELINE)
    if signature.message == OVERWRITTEN and kind.is_over_nothing(finding.case):
        yield signature.message, signature.fixes, *groups
    # The table of causes evaluates expressions: only wrong answers need it.
    wrong = signature.verdict in WRONG
    if wrong and (likely := kind.likely_cause(finding.case, finding.outcome)) is not None:
        yield signature.verdict, signature.fixes, likely.name
    if not drawn:
        # The same words in two functions of a pass are two checks.
        function = raised_in(signature) if in_pass(signature) else ""
        yield sibling_key(signature, finding.blame, kind.group), function
    if place is None and (drawn or in_pass(signature)):
        # A failed check about one operator is one line of TVM's source, whichever pass runs it.
        stage = "" if failed_check(signature) else signature.stage
        yield sibling_key(replace(signature, stage=stage), finding.blame, group)


def _over_nothing(finding: Finding) -> bool:
    """True of undefined memory that is returned where a size is 0, and nowhere else."""
    wrong = [check for check in finding.outcome.checks if check.ratio is None or check.ratio > 1]
    kind = of(finding.case)
    undefined = finding.signature.appearance == kind.any_look != ""
    empty = (kind.is_over_nothing(finding.case, check.binding) for check in wrong)
    return undefined and bool(wrong) and all(empty)


def _explains(finding: Finding, other: Finding) -> bool:
    """True if a result of ``other`` is wrong for the blame of ``finding``, and more besides.

    They look alike, or those of one come from memory out of bounds, which look like anything.
    """
    # Most pairs differ here; a signature takes longer to make, and there are as many as pairs.
    if (finding.verdict, finding.operator) != (other.verdict, other.operator):
        return False
    signature, other_signature = finding.signature, other.signature
    looks = {signature.appearance, other_signature.appearance}
    return (
        bool(finding.cause)
        and finding.cause.items() < other.cause.items()
        and isinstance(finding.case.expect, Valid)
        and replace(signature, appearance="") == replace(other_signature, appearance="")
        and signature.verdict in WRONG
        and (len(looks) == 1 or of(finding.case).any_look in looks - {""})
        and _seen_on(finding) == _seen_on(other)
    )


def _gravity(finding: Finding) -> tuple[int, bool]:
    return rank(finding.severity), finding.regression is None


def _order(finding: Finding) -> tuple[object, ...]:
    # A lead that does not come again, or that somebody may take for rounding, closes the issue
    # about all.
    doubtful = finding.confirmed is False, is_slight(finding.outcome)
    return (*_gravity(finding), *doubtful, -finding.count, finding.operator, finding.fingerprint)


def _cause_order(cause: Cause) -> tuple[object, ...]:
    return (*_gravity(cause.lead), -cause.count, *_order(cause.lead))
