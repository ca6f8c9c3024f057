"""One export: from a failing case to a folder with an issue and a script that was run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from relaxcheck.cli.actions.exporting.by_release import (
    Ran,
    right_with_fixes,
    run_beside,
    run_on,
    with_releases,
)
from relaxcheck.cli.actions.exporting.curing import patch_of
from relaxcheck.cli.actions.exporting.folder import script_of, write_folder
from relaxcheck.cli.actions.exporting.running import again, ours_apart
from relaxcheck.cli.actions.exporting.workers import Say, Workers
from relaxcheck.cli.causes import known_causes
from relaxcheck.cli.lookup import RecordedCase
from relaxcheck.generators.core.axes import point_of
from relaxcheck.generators.core.case import AnyCase, CaseError, with_fixes
from relaxcheck.harness.kind import Trials
from relaxcheck.harness.kinds import families, of, runs_without_relax
from relaxcheck.harness.known.corpus import (
    CURED,
    EXPORTED,
    ISSUE,
    Culprit,
    Record,
    read_record,
)
from relaxcheck.harness.outcomes.errors import corrupts_heap, portable
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.outcomes.severity import severity_of
from relaxcheck.harness.releases.releases import ALONE, known, own, state
from relaxcheck.harness.triage.bisection.running import NO_PROGRAM, bisected
from relaxcheck.harness.triage.bisection.search import Evidence
from relaxcheck.harness.triage.curing import cured
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.triage.fingerprint import fingerprint, same_signature, signature_of
from relaxcheck.harness.triage.reduction.running import reduced
from relaxcheck.harness.triage.reduction.trying import Budget, InWorkers, outcome_of
from relaxcheck.harness.workers.rooms import Runs, by_chance, watched
from relaxcheck.harness.workers.starting import PoolError
from relaxcheck.reports.issue.pasting import title_of
from relaxcheck.reports.issue.titles import Titles

T = TypeVar("T")

_CHANCES = 8
"""Runs until one notices that the heap is corrupted."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """An export to make: the case that the user calls ``name``, as ``files`` in ``folder``.

    The case is reduced first, within so many ``tries`` and ``seconds``. An entry of a corpus is
    not: somebody has chosen it as it is.
    """

    name: str
    recorded: RecordedCase
    folder: Path
    files: tuple[str, ...] = EXPORTED
    tries: int = 500
    seconds: float = 180.0


def complete(wanted: Wanted) -> bool:
    """Is this export finished already? Raises ``CaseError`` where its files cannot be read."""
    if not all((wanted.folder / name).is_file() for name in wanted.files):
        return False
    record = read_record(wanted.folder)
    cured = record.cure is not None and record.cure.patched
    if cured and not all((wanted.folder / name).is_file() for name in CURED):
        return False
    # An export with --as-is is not finished: it has no bisection.
    outcome = record.outcome
    return outcome is not None and (record.culprit is not None or not outcome.verdict.is_failure)


def exported(wanted: Wanted, workers: Workers, say: Say, titles: Titles | None = None) -> Record:
    """Make the export; the finished record. ``say`` gets a line for each step.

    Its title is none of ``titles``, unless somebody has written it.

    Raises:
        CaseError: the case does not fail, or not again, or its script does not exit as it should.
        PoolError: the workers cannot start.
    """
    recorded = without_fixes(wanted.recorded)
    name = release_of(recorded)
    every = (*known(), *(ALONE if runs_without_relax(recorded.case) else ()))
    releases = [other for other in every if state(other).usable]
    workers.begin([name, *(other for other in releases if other != name)])
    pool = workers.of(name)
    runs = watched(pool, recorded.case, _failure(recorded, pool, wanted.name))
    if recorded.expected is None:
        case, outcome = _reduced(wanted, recorded, runs, say)
    else:
        case, outcome = recorded.case, again(recorded.case, runs, wanted.name)
    outcome = _as_undefined(case, outcome, recorded)
    record = record_of(recorded, outcome, pool.environment, pool.limits.seconds)
    has_passes = outcome.verdict.is_failure and of(case).has_passes
    if has_passes and not by_chance(outcome):
        say("putting settings back to their defaults")
        record = _attributed(record, case, outcome, runs)
    record = _with_title(record, case, recorded, titles)
    # The rest takes two cores: beside this thread's work runs all that needs other processes.
    with workers.beside() as beside:
        elsewhere = {
            other: beside(run_beside, workers, other, record, case)
            for other in releases
            if other != name
        }
        say(f"running it on {name}")
        here = run_on(pool, record, case)
        if here.error is not None:
            raise PoolError(here.error)
        cure = None
        # An entry of the corpus has no issue that a patch could lie beside.
        if has_passes and ISSUE in wanted.files and right_with_fixes(here):
            say("looking for the fixes that cure it")
            cure = cured(runs, case)
        # The longest of all, and so before the rest.
        patched = None if cure is None else beside(patch_of, cure, case, record, name, workers)
        script = beside(script_of, case, record, name)
        if has_passes:
            say("looking for the pass")
            result = bisected(runs, case)
            culprit = Culprit(result.culprit, result.evidence, result.why)
            record = msgspec.structs.replace(record, culprit=culprit)
        elif outcome.verdict.is_failure:
            unknown = Culprit(None, Evidence.NONE, NO_PROGRAM)
            record = msgspec.structs.replace(record, culprit=unknown)
        by_release: dict[str, Ran] = {}
        for other in releases:
            if other in elsewhere:
                say(f"running it on {other}")
            by_release[other] = elsewhere[other].result() if other in elsewhere else here
            if (error := by_release[other].error) is not None:
                say(f"cannot run it on {other}: {error}")
        record = with_releases(record, by_release, recorded.entry)
        texts: dict[str, str] = {}
        if cure is not None and patched is not None:
            say("running the script on a copy of TVM with their patch")
            texts = patched.result()
            cure = msgspec.structs.replace(cure, patched=bool(texts))
            record = msgspec.structs.replace(record, cure=cure)
        say("running the script")
        write_folder(wanted.folder, wanted.files, case, record, script.result, texts)
    return record


def _with_title(
    record: Record, case: AnyCase, recorded: RecordedCase, titles: Titles | None
) -> Record:
    """``record`` with a title; it is none of ``titles``, unless somebody has written it."""
    assert record.outcome is not None
    outcome = record.outcome
    title = record.title or title_of(case, outcome, record.attribution, record.blame)
    if titles is not None and recorded.expected is None:
        title = titles.add(title, case, outcome)
    return msgspec.structs.replace(record, title=title)


def without_fixes(recorded: RecordedCase) -> RecordedCase:
    """``recorded`` as a maintainer sees it: without our fixes, and without their outcome."""
    if not recorded.case.fixes:
        return recorded
    return RecordedCase(
        with_fixes(recorded.case, False),
        environment=recorded.environment,
        entry=recorded.entry,
        expected=recorded.expected,
    )


def release_of(recorded: RecordedCase) -> str:
    """The release to run it on: its campaign's, or the newest on which its entry fails.

    TIRx alone comes after all releases of TVM.
    """
    if recorded.expected is None:
        return recorded.environment.get("release", own().name)
    usable = [name for name in known() if state(name).usable]
    newest = sorted(usable, key=lambda name: (name == own().name, usable.index(name)), reverse=True)
    for name in (*newest, *(name for name in ALONE if state(name).usable)):
        declared = recorded.expected.verdict(name, fixes=False)
        if declared is not None and declared.is_failure:
            return name
    return own().name


def _reduced(
    wanted: Wanted, recorded: RecordedCase, pool: Runs, say: Say
) -> tuple[AnyCase, Outcome]:
    """The simplest case that fails in the same way in a new process, and its outcome there.

    A regression stays as it is: its campaign has reduced it on both releases.
    """
    say("reducing")
    trier = InWorkers(pool)
    # It is chance if anything notices that the heap is corrupted.
    seen = recorded.finding.outcome if recorded.finding is not None else recorded.outcome
    chances = _CHANCES if seen is not None and corrupts_heap(seen.message) else 1
    start = _first_failure(
        lambda: ours_apart(outcome_of(trier, recorded.case), wanted.name), chances
    )
    if not start.verdict.is_failure:
        fixed = wanted.recorded.case.fixes
        where = "without the fixes, which its script would not have" if fixed else "any more"
        raise CaseError(f"{wanted.name} does not fail {where}: {start.verdict}")
    if recorded.finding is not None and not same_signature(
        recorded.case, start, recorded.finding.signature
    ):
        raise CaseError(
            f"{wanted.name} fails in another way than recorded: {start.verdict} in {start.stage}"
        )
    # Reduced on one release alone, a regression may end as a case that fails on both.
    if recorded.finding is None or recorded.finding.regression is None:
        budget = Budget(wanted.tries, wanted.seconds, lambda: None)
        ended = reduced(recorded.case, start, trier, families(), budget)
        if ended.broken:
            raise PoolError(ended.why)
        if ended.stable and ended.again is not None:
            return ended.reduction.case, ended.again
        say("the reduced case does not fail again; trying it as recorded")
    outcome = _first_failure(lambda: again(recorded.case, pool, wanted.name), chances)
    if not same_signature(recorded.case, outcome, signature_of(recorded.case, start)):
        raise CaseError(f"{wanted.name} does not fail again in a new process: {outcome.verdict}")
    return recorded.case, outcome


def _failure(recorded: RecordedCase, pool: Runs, called: str) -> Outcome | None:
    """The failure of ``recorded``, if anything is known of it; a case of no record runs."""
    if recorded.finding is not None:
        # Run again to be confirmed, the case may have passed by chance.
        return recorded.finding.outcome
    if recorded.outcome is not None:
        return recorded.outcome
    if recorded.expected is not None:
        return recorded.expected.outcome
    return again(recorded.case, pool, called)


def _as_undefined(case: AnyCase, outcome: Outcome, recorded: RecordedCase) -> Outcome:
    """``outcome``, which depends on memory that nothing wrote if its finding was shown to.

    In a process of its own the memory may hold the same values each time.
    """
    if recorded.finding is None or recorded.finding.verdict is not outcome.verdict:
        return outcome
    kind, seen = of(case), recorded.finding.outcome
    if not kind.any_look or kind.appearance(seen) != kind.any_look:
        return outcome
    return msgspec.structs.replace(outcome, details={**outcome.details, **seen.details})


def _first_failure(run: Callable[[], Outcome], most: int) -> Outcome:
    """The first outcome of ``run`` that is a failure, of ``most``; else the last."""
    outcome = run()
    for _ in range(most - 1):
        if outcome.verdict.is_failure:
            break
        outcome = run()
    return outcome


def _with_name(record: Record, finding: Finding, version: str) -> Record:
    """``record`` with title, upstream issue and fault of its cause, if it is known and they fit."""
    named = known_causes((finding,), (version,)).get(finding.fingerprint)
    if named is None or not named.fits:
        return record
    return msgspec.structs.replace(
        record, title=named.title, issue=record.issue or named.issue, fault=named.fault
    )


def record_of(
    recorded: RecordedCase, outcome: Outcome, environment: Mapping[str, str], seconds: float
) -> Record:
    """The record of ``recorded`` with this ``outcome``, and the versions in ``environment``.

    The title is empty unless the entry has one.
    """
    record = recorded.expected or Record("", None, {})
    if recorded.finding is not None:
        if not record.title:
            version = environment.get("apache-tvm", "")
            record = _with_name(record, recorded.finding, version)
        record = msgspec.structs.replace(
            record,
            fingerprint=recorded.finding.fingerprint,
            blame=recorded.finding.blame,
            count=recorded.finding.count,
            siblings=recorded.siblings,
            symbolic=recorded.symbolic,
        )
    return msgspec.structs.replace(
        record,
        severity=severity_of(outcome.verdict, recorded.case.expect),
        outcome=portable_outcome(outcome),
        environment=dict(environment),
        seconds=seconds,
    )


def portable_outcome(outcome: Outcome) -> Outcome:
    """``outcome`` without what depends on the machine: times, paths, versions."""
    return msgspec.structs.replace(
        outcome,
        message=portable(outcome.message),
        seconds={},
        environment={},
        retried="",
        reference=None,
        release="",
        elsewhere={},
        expected_by="",
    )


def _attributed(record: Record, case: AnyCase, outcome: Outcome, pool: Runs) -> Record:
    family = next((each for each in families() if each.name == case.family), None)
    trials = of(case).attribute(case, outcome)
    if trials is None:
        return record
    attribution = _answered(pool, trials)
    record = msgspec.structs.replace(record, attribution=attribution)
    axes = {part.axis for part in attribution.blamed if part.axis}
    if record.fingerprint or family is None or not axes:
        return record
    point = point_of(family, case)
    blame = {axis: str(point[axis]) for axis in point if axis in axes}
    return msgspec.structs.replace(
        record, blame=blame, fingerprint=fingerprint(signature_of(case, outcome), blame)
    )


def _answered(pool: Runs, trials: Trials[T]) -> T:
    """The result of ``trials``, each run in ``pool`` where the reference accepts it."""
    trier = InWorkers(pool)
    try:
        case = next(trials)
        while True:
            case = trials.send(outcome_of(trier, case))
    except StopIteration as end:
        result: T = end.value
        return result
