"""One export: from a failing case to a folder with an issue and a script that was run."""

import contextlib
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

import msgspec

from relaxcheck.cli.causes import known_causes
from relaxcheck.cli.lookup import RecordedCase
from relaxcheck.generators.core.axes import point_of
from relaxcheck.generators.core.case import AnyCase, CaseError, with_fixes, write
from relaxcheck.harness.kind import Trials
from relaxcheck.harness.kinds import families, of
from relaxcheck.harness.known.corpus import (
    CASE,
    EXPORTED,
    FINDING,
    SCRIPT,
    UNFINISHED,
    Culprit,
    Record,
    read_record,
    record_text,
)
from relaxcheck.harness.outcomes.errors import headline, portable
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.severity import severity_of
from relaxcheck.harness.releases.releases import known, own, release, state
from relaxcheck.harness.triage.bisection.running import NO_PROGRAM, bisected
from relaxcheck.harness.triage.bisection.search import Evidence
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.triage.fingerprint import fingerprint, same_signature, signature_of
from relaxcheck.harness.triage.reduction.running import reduced
from relaxcheck.harness.triage.reduction.search import was_refused
from relaxcheck.harness.triage.reduction.trying import Budget, InWorkers, outcome_of
from relaxcheck.harness.triage.scripts import exit_code, run_script
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.pool import Pool, PoolError
from relaxcheck.reports.issue.finding_folder import rendered
from relaxcheck.reports.issue.pasting import title_of

_SHOWN = frozenset(
    {
        *(Verdict.SILENT_BAIL, Verdict.ACCEPTS_INVALID),
        *(Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE, Verdict.WRONG_VALUE),
    }
)
"""Verdicts that a script shows without an exception: if it raises, it is broken."""

Say = Callable[[str], None]
T = TypeVar("T")


class FaultError(CaseError):
    """relaxcheck itself failed on a case, in one line."""


class Workers:
    """A pool with one worker for each release, started when it is first asked for.

    Use as a context manager.
    """

    def __init__(self, limits: Limits):
        self.limits = limits
        self._pools: dict[str, Pool] = {}
        self._broken: dict[str, str] = {}
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def of(self, name: str) -> Pool:
        """The pool of the release ``name``.

        Raises:
            ReleaseError: it is not installed.
            PoolError: its workers do not start.
        """
        if name in self._broken:
            raise PoolError(self._broken[name])
        if name not in self._pools:
            try:
                pool = Pool(1, self.limits, release=release(name))
            except PoolError as error:
                self._broken[name] = str(error)
                raise
            self._pools[name] = self._stack.enter_context(pool)
        return self._pools[name]


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
    # An export with --as-is is not finished: it has no bisection.
    outcome = record.outcome
    return outcome is not None and (record.culprit is not None or not outcome.verdict.is_failure)


def exported(wanted: Wanted, workers: Workers, say: Say) -> Record:
    """Make the export; the finished record. ``say`` gets a line for each step.

    Raises:
        CaseError: the case does not fail, or not again, or its script does not exit as it should.
        PoolError: the workers cannot start.
    """
    recorded = without_fixes(wanted.recorded)
    name = release_of(recorded)
    pool = workers.of(name)
    if recorded.expected is None:
        case, outcome = _reduced(wanted, recorded, pool, say)
    else:
        case, outcome = recorded.case, again(recorded.case, pool, wanted.name)
    record = record_of(recorded, outcome, pool.environment, pool.limits.seconds)
    if outcome.verdict.is_failure and not of(case).has_passes:
        unknown = Culprit(None, Evidence.NONE, NO_PROGRAM)
        record = msgspec.structs.replace(record, culprit=unknown)
    elif outcome.verdict.is_failure:
        say("putting settings back to their defaults")
        record = _attributed(record, case, outcome, pool)
        say("looking for the pass")
        result = bisected(pool, case)
        culprit = Culprit(result.culprit, result.evidence, result.why)
        record = msgspec.structs.replace(record, culprit=culprit)
    record = _on_releases(record, case, recorded, workers, say)
    if not record.title:
        title = title_of(case, outcome, record.attribution, record.blame)
        record = msgspec.structs.replace(record, title=title)
    say("running the script")
    _write(wanted, case, record, name)
    return record


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
    """The release to run it on: its campaign's, or the newest on which its entry fails."""
    if recorded.expected is None:
        return recorded.environment.get("release", own().name)
    usable = [name for name in known() if state(name).usable]
    newest = sorted(usable, key=lambda name: (name == own().name, usable.index(name)), reverse=True)
    for name in newest:
        declared = recorded.expected.verdict(name, fixes=False)
        if declared is not None and declared.is_failure:
            return name
    return own().name


def again(case: AnyCase, pool: Pool, called: str) -> Outcome:
    """The outcome of ``case`` in a new process, without any shortcut.

    Raises:
        CaseError: it cannot be read.
        FaultError: relaxcheck itself fails on it.
    """
    plain = Job(case, fresh=True)
    pool.submit(plain)
    return _ours_apart(next(outcome for job, outcome in pool.drain() if job is plain), called)


def _ours_apart(outcome: Outcome, called: str) -> Outcome:
    """``outcome``, unless relaxcheck itself failed. Raises as ``again``."""
    if outcome.verdict is not Verdict.HARNESS_ERROR:
        return outcome
    text = f"{called}: {headline(outcome.message)}"
    bad = outcome.stage == "read" or was_refused(outcome)
    raise CaseError(text) if bad else FaultError(text)


def _reduced(
    wanted: Wanted, recorded: RecordedCase, pool: Pool, say: Say
) -> tuple[AnyCase, Outcome]:
    """The simplest case that fails in the same way in a new process, and its outcome there.

    A regression stays as it is: its campaign has reduced it on both releases.
    """
    say("reducing")
    trier = InWorkers(pool)
    start = _ours_apart(outcome_of(trier, recorded.case), wanted.name)
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
    outcome = again(recorded.case, pool, wanted.name)
    if not same_signature(recorded.case, outcome, signature_of(recorded.case, start)):
        raise CaseError(f"{wanted.name} does not fail again in a new process: {outcome.verdict}")
    return recorded.case, outcome


def _with_name(record: Record, finding: Finding) -> Record:
    """``record`` with title and upstream issue of its cause in the corpus, if they fit."""
    named = known_causes((finding,), ()).get(finding.fingerprint)
    if named is None or not named.fits:
        return record
    return msgspec.structs.replace(record, title=named.title, issue=record.issue or named.issue)


def record_of(
    recorded: RecordedCase, outcome: Outcome, environment: Mapping[str, str], seconds: float
) -> Record:
    """The record of ``recorded`` with this ``outcome``, and the versions in ``environment``.

    The title is empty unless the entry has one.
    """
    record = recorded.expected or Record("", None, {})
    if recorded.finding is not None:
        if not record.title:
            record = _with_name(record, recorded.finding)
        record = msgspec.structs.replace(
            record,
            fingerprint=recorded.finding.fingerprint,
            blame=recorded.finding.blame,
            count=recorded.finding.count,
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


def _attributed(record: Record, case: AnyCase, outcome: Outcome, pool: Pool) -> Record:
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


def _answered(pool: Pool, trials: Trials[T]) -> T:
    """The result of ``trials``, each run in ``pool`` where the reference accepts it."""
    trier = InWorkers(pool)
    try:
        case = next(trials)
        while True:
            case = trials.send(outcome_of(trier, case))
    except StopIteration as end:
        result: T = end.value
        return result


def _on_releases(
    record: Record, case: AnyCase, recorded: RecordedCase, workers: Workers, say: Say
) -> Record:
    """``record`` with the verdicts of every installed release, fixes off and on.

    Raises:
        CaseError: a verdict differs from the declared one.
    """
    verdicts, alike = dict(record.verdicts), dict(record.alike)
    for name in known():
        if not state(name).usable:
            continue
        say(f"running it on {name}")
        by: dict[str, Verdict] = {}
        try:
            pool = workers.of(name)
            for fixes, side in ((False, "off"), (True, "on")):
                switched = with_fixes(case, fixes)
                outcome = again(switched, pool, f"on {name}, fixes {side}")
                by[side] = outcome.verdict
                if side == "off" and outcome.verdict.is_failure:
                    alike[name] = fingerprint(signature_of(switched, outcome), record.blame)
        except PoolError as error:
            # The other releases still count; the table of releases says what is missing.
            say(f"cannot run it on {name}: {error}")
            verdicts[name] = {**verdicts.get(name, {}), **by}
            continue
        for side, came in by.items():
            declared = record.verdict(name, fixes=side == "on")
            if recorded.expected is not None and declared not in (None, came):
                raise CaseError(
                    f"{recorded.entry}: {came} on {name} with the fixes {side}, "
                    f"where {declared} is declared"
                )
        verdicts[name] = by
    return msgspec.structs.replace(record, verdicts=verdicts, alike=alike)


def _write(wanted: Wanted, case: AnyCase, record: Record, release: str) -> None:
    """Write the files, once the script has exited as it should on ``release``.

    Raises:
        CaseError: the script exited otherwise, and is left beside the folder; or there is no room.
    """
    # As "." it has no name.
    folder = wanted.folder.absolute()
    unfinished = folder.with_name(f"{folder.name}{UNFINISHED}")
    try:
        unfinished.mkdir(parents=True, exist_ok=True)
        write(case, unfinished / CASE)
        for file, text in rendered(case, record).items():
            (unfinished / file).write_text(text)
        (unfinished / FINDING).write_bytes(record_text(record))
        check_script(unfinished / SCRIPT, record, release)
        folder.mkdir(parents=True, exist_ok=True)
        # finding.json last: an export that has it is complete.
        for file in sorted(wanted.files, key=lambda file: file == FINDING):
            (unfinished / file).replace(folder / file)
        shutil.rmtree(unfinished)
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise CaseError(f"cannot write to {folder}: {error.strerror}") from error


def check_script(script: Path, record: Record, name: str) -> None:
    """Run ``script`` in a new process with the release ``name``, outside this project.

    Raises:
        CaseError: its exit code contradicts ``record``, or it raises where it should show a value.
    """
    assert record.outcome is not None
    verdict = record.outcome.verdict
    ended = run_script(script, release(name), record.seconds)
    wanted = exit_code(verdict)
    if ended.code != wanted:
        raise CaseError(f"{script} exited with {ended.code}, not with {wanted}: {ended.output}")
    if verdict in _SHOWN and ended.raised:
        raise CaseError(f"{script} raised instead of showing {verdict}: {ended.output}")
