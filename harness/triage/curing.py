"""Finds the fixes that cure a failure: by running it with some of them on, and no others."""

from collections.abc import Generator, Sequence

import msgspec

from relaxcheck.generators.core.case import AnyCase, Valid, with_fixes
from relaxcheck.harness.kinds import of, operators
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.triage.fingerprint import BY_OPERATOR, WRONG
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.protocol import BundledFix
from relaxcheck.harness.workers.rooms import Runs

Names = tuple[str, ...]


class Cure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The ``fixes`` that cure a case on the release that it was seen on, each of them needed.

    ``patched``: its script exits with 0 there on a TVM that has their patch and no fix.
    """

    fixes: tuple[str, ...]
    patched: bool = False


def curing(fixes: Sequence[BundledFix], named: Sequence[str]) -> Generator[Names, bool, Names]:
    """Ask of names of ``fixes`` whether the case passes with them alone; return the cure.

    With all fixes it passes. ``named`` are its operators: a single fix for one of them comes first.
    Otherwise none of the fixes in the cure can be left out.
    """
    likely = tuple(fix.name for fix in fixes if set(fix.operators) & set(named))
    for name in likely:
        if (yield (name,)):
            return (name,)
    # The last are left out last.
    cure = (*(fix.name for fix in fixes if fix.name not in likely), *likely)
    size = (len(cure) + 1) // 2
    while size:
        start = 0
        while start < len(cure):
            rest = cure[:start] + cure[start + size :]
            if rest and (yield rest):
                cure = rest
            else:
                start += size
        size = (size + 1) // 2 if size > 1 else 0
    return tuple(fix.name for fix in fixes if fix.name in cure)


def mending(fixes: Sequence[BundledFix], finding: Finding) -> Names:
    """The names of those of ``fixes`` that would tell the cause of ``finding`` if they cured it.

    Such a fix mends one fault of the operator that gives wrong results, and no other; or one fault
    at all, if a pass over whole programs fails, or a program dies that has no elements somewhere. A
    broad fix tells nothing: it may cure two findings for two reasons.
    """
    wrong = finding.verdict in WRONG
    if finding.case.fixes or not isinstance(finding.case.expect, Valid):
        return ()
    if not wrong and not _raised_by_pass(finding) and not dies_over_nothing(finding):
        return ()
    return tuple(
        fix.name for fix in fixes if finding.operator in fix.single and (wrong or fix.one_fault)
    )


def mended(finding: Finding, outcome: Outcome) -> bool:
    """True if the failure of ``finding`` is gone in ``outcome``, with a fix of ``mending`` on.

    A call that a pass no longer fails on may be left by LegalizeOps, which is another fault.
    """
    left = outcome.verdict is Verdict.SILENT_BAIL
    return outcome.verdict.is_right or (left and _raised_by_pass(finding))


def dies_over_nothing(finding: Finding) -> bool:
    """True of a process that ends while a program runs that has no elements at some binding.

    It is chance if such a process ends: a single run that is right shows no cure.
    """
    ends = finding.verdict is Verdict.PROCESS_DEATH and finding.stage == "run"
    return ends and of(finding.case).is_over_nothing(finding.case)


def _raised_by_pass(finding: Finding) -> bool:
    raised = finding.verdict is Verdict.OPAQUE_CRASH
    return raised and finding.stage not in BY_OPERATOR


def cured(pool: Runs, case: AnyCase) -> Cure | None:
    """The cure of ``case``, which is right with all fixes on; None if the search proves nothing.

    Nothing else may be running on ``pool``.
    """
    if not pool.fixes:
        return None
    fixed = with_fixes(case, True)
    search = curing(pool.fixes, operators(case))
    try:
        names = next(search)
        while True:
            names = search.send(_right(pool, Job(fixed, alone=True, fixes=names)))
    except StopIteration as end:
        cure: Names = end.value
    # As a user has it: in a process that has run nothing else.
    return Cure(cure) if _right(pool, Job(fixed, fresh=True, fixes=cure)) else None


def _right(pool: Runs, job: Job) -> bool:
    pool.submit(job)
    ((_, outcome),) = pool.drain()
    return outcome.verdict.is_right
