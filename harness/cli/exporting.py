"""One export: from a failing case to a folder that can be pasted, whose script has been run."""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import msgspec

from generators.cases import AnyCase
from generators.families import every
from generators.program import Case, CaseError, write
from harness.attribution import attribute
from harness.bisection.running import NO_PROGRAM, bisected
from harness.bisection.search import Evidence
from harness.cli.lookup import Found
from harness.corpus import (
    CASE,
    FILES,
    FINDING,
    SCRIPT,
    UNFINISHED,
    Culprit,
    Record,
    read_record,
    record_text,
)
from harness.errors import headline, portable
from harness.finding import T, Trials
from harness.fingerprint import fingerprint, kind_of, same_kind
from harness.jobs import Job, Limits
from harness.outcome import Outcome, Verdict
from harness.pipelines import PIPELINES
from harness.pool import Pool, PoolError
from harness.reduction.running import reduced
from harness.reduction.search import defaults_of
from harness.reduction.trying import Budget, InWorkers, outcome_of
from harness.releases import known, own, release, state
from harness.scripts import exit_code, run_script
from reports.finding_folder import rendered
from reports.pasting import title_of

_SHOWN = frozenset(
    {
        *(Verdict.SILENT_BAIL, Verdict.ACCEPTS_INVALID),
        *(Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE, Verdict.WRONG_VALUE),
    }
)
"""What a script shows without an exception; one that raises is broken, and exits with 1 as well."""

Say = Callable[[str], None]


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
    """What is to be exported: what ``name`` stands for, into ``folder``.

    It is reduced first, with so many ``tries`` and ``seconds``, but for an entry of a corpus, which
    somebody has chosen as it is.
    """

    name: str
    found: Found
    folder: Path
    tries: int = 500
    seconds: float = 180.0


def complete(folder: Path) -> bool:
    """Whether ``folder`` holds an export that came to its end. Raises ``CaseError``."""
    if not all((folder / name).is_file() for name in FILES):
        return False
    record = read_record(folder)
    # As it is, with nothing looked into, is not whole: a failure has been bisected at least.
    outcome = record.outcome
    return outcome is not None and (record.culprit is not None or not outcome.verdict.is_failure)


def exported(wanted: Wanted, workers: Workers, say: Say) -> Record:
    """Export what is ``wanted``; what is known of it in the end. ``say`` hears what is being done.

    Raises:
        CaseError: it does not fail, or not again, or its script does not exit as it should.
        PoolError: the workers cannot start.
    """
    found = without_fixes(wanted.found)
    name = release_of(found)
    pool = workers.of(name)
    if found.expected is None:
        case, outcome = _reduced(wanted, found, pool, say)
    else:
        case, outcome = found.case, again(found.case, pool, wanted.name)
    record = record_of(found, outcome, pool.environment, pool.limits.seconds)
    if outcome.verdict.is_failure and not isinstance(case, Case):
        unknown = Culprit(None, Evidence.NONE, NO_PROGRAM)
        record = msgspec.structs.replace(record, culprit=unknown)
    elif outcome.verdict.is_failure and isinstance(case, Case):
        say("putting settings back to their defaults")
        record = _attributed(record, case, outcome, pool)
        say("looking for the pass")
        result = bisected(pool, case)
        culprit = Culprit(result.culprit, result.evidence, result.why)
        record = msgspec.structs.replace(record, culprit=culprit)
    record = _on_releases(record, case, found, workers, say)
    if not record.title:
        title = title_of(case, outcome, record.attribution, record.blame)
        record = msgspec.structs.replace(record, title=title)
    say("running the script")
    _written(wanted.folder, case, record, name)
    return record


def without_fixes(found: Found) -> Found:
    """``found`` as a maintainer sees it; what came of it with the fixes says nothing then."""
    if not found.case.fixes:
        return found
    return Found(
        msgspec.structs.replace(found.case, fixes=False),
        environment=found.environment,
        entry=found.entry,
        expected=found.expected,
    )


def release_of(found: Found) -> str:
    """The release to see it on: its campaign's, or the newest that an entry is said to fail on."""
    if found.expected is None:
        return found.environment.get("release", own().name)
    usable = [name for name in known() if state(name).usable]
    newest = sorted(usable, key=lambda name: (name == own().name, usable.index(name)), reverse=True)
    for name in newest:
        declared = found.expected.verdict(name, fixes=False)
        if declared is not None and declared.is_failure:
            return name
    return own().name


def again(case: AnyCase, pool: Pool, called: str) -> Outcome:
    """What comes of ``case`` in a new process, without any shortcut.

    Raises:
        CaseError: it cannot be read.
        FaultError: relaxcheck itself fails on it.
    """
    plain = Job(case, fresh=True)
    pool.submit(plain)
    return _ours_apart(next(outcome for job, outcome in pool.drain() if job is plain), called)


def _ours_apart(outcome: Outcome, called: str) -> Outcome:
    """``outcome``, unless it says nothing about TVM. Raises as ``again``."""
    if outcome.verdict is not Verdict.HARNESS_ERROR:
        return outcome
    said = f"{called}: {headline(outcome.message)}"
    raise CaseError(said) if outcome.stage == "read" else FaultError(said)


def _reduced(wanted: Wanted, found: Found, pool: Pool, say: Say) -> tuple[AnyCase, Outcome]:
    """The simplest case that fails alike in a new process, and what came of it there.

    A regression is as simple already as it gets on both of its releases, and stays as it is.
    """
    say("reducing")
    trier = InWorkers(pool)
    start = _ours_apart(outcome_of(trier, found.case), wanted.name)
    if not start.verdict.is_failure:
        fixed = wanted.found.case.fixes
        where = "without the fixes, which a script does not have" if fixed else "any more"
        raise CaseError(f"{wanted.name} does not fail {where}: {start.verdict}")
    if found.finding is not None and not same_kind(found.case, start, found.finding.kind):
        raise CaseError(
            f"{wanted.name} fails in another way than it did: {start.verdict} in {start.stage}"
        )
    # On one release alone a regression might be reduced to what fails on the earlier one as well.
    if found.finding is None or found.finding.regression is None:
        budget = Budget(wanted.tries, wanted.seconds, lambda: None)
        ended = reduced(found.case, start, trier, every(tuple(PIPELINES)), budget)
        if ended.broken:
            raise PoolError(ended.why)
        if ended.stable and ended.again is not None:
            return ended.reduction.case, ended.again
        say("what it was reduced to does not come again; trying it as it was")
    outcome = again(found.case, pool, wanted.name)
    if not same_kind(found.case, outcome, kind_of(found.case, start)):
        raise CaseError(f"{wanted.name} does not come again in a new process: {outcome.verdict}")
    return found.case, outcome


def record_of(
    found: Found, outcome: Outcome, environment: Mapping[str, str], seconds: float
) -> Record:
    """What is known of ``found``, of which ``outcome`` came with the versions in ``environment``.

    The title is empty unless somebody gave it one.
    """
    record = found.expected or Record("", None, {})
    if found.finding is not None:
        record = msgspec.structs.replace(
            record,
            fingerprint=found.finding.fingerprint,
            blame=found.finding.blame,
            count=found.finding.count,
        )
    return msgspec.structs.replace(
        record,
        outcome=portable_outcome(outcome),
        environment=dict(environment),
        seconds=seconds,
    )


def portable_outcome(outcome: Outcome) -> Outcome:
    """``outcome`` with what it says of TVM, and nothing of the machine or the time it took."""
    return msgspec.structs.replace(
        outcome,
        message=portable(outcome.message),
        seconds={},
        environment={},
        retried="",
        reference=None,
        release="",
        elsewhere={},
        gap="",
    )


def _attributed(record: Record, case: Case, outcome: Outcome, pool: Pool) -> Record:
    members = every(tuple(PIPELINES))
    family = next((one for one in members if one.name == case.family), None)
    found = _answered(pool, attribute(case, outcome, family, defaults_of(members)))
    record = msgspec.structs.replace(record, attribution=found)
    axes = {one.axis for one in found.blamed if one.axis}
    if record.fingerprint or family is None or not axes:
        return record
    point = family.point(case)
    blame = {axis: str(point[axis]) for axis in point if axis in axes}
    return msgspec.structs.replace(
        record, blame=blame, fingerprint=fingerprint(kind_of(case, outcome), blame)
    )


def _answered(pool: Pool, trials: Trials[T]) -> T:
    """The end of ``trials``, each case run in ``pool`` where the reference lets it pass."""
    trier = InWorkers(pool)
    try:
        case = next(trials)
        while True:
            case = trials.send(outcome_of(trier, case))
    except StopIteration as end:
        result: T = end.value
        return result


def _on_releases(record: Record, case: AnyCase, found: Found, workers: Workers, say: Say) -> Record:
    """``record`` with the verdicts of every release that is installed, off and on.

    Raises:
        CaseError: one is not what is declared.
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
                given = msgspec.structs.replace(case, fixes=fixes)
                outcome = again(given, pool, f"on {name}, fixes {side}")
                by[side] = outcome.verdict
                if side == "off" and outcome.verdict.is_failure:
                    alike[name] = fingerprint(kind_of(given, outcome), record.blame)
        except PoolError as error:
            # On the others it is known all the same; the table of releases says so of this one.
            say(f"it could not be run on {name}: {error}")
            verdicts[name] = {**verdicts.get(name, {}), **by}
            continue
        for side, came in by.items():
            declared = record.verdict(name, fixes=side == "on")
            if found.expected is not None and declared not in (None, came):
                raise CaseError(
                    f"{found.entry}: {came} on {name} with the fixes {side}, "
                    f"where {declared} is declared"
                )
        verdicts[name] = by
    return msgspec.structs.replace(record, verdicts=verdicts, alike=alike)


def _written(folder: Path, case: AnyCase, record: Record, name: str) -> None:
    """Write all four files, once the script has exited as it should.

    Raises:
        CaseError: it has not, and is left beside ``folder``; or there is no room.
    """
    # As "." it has no name.
    folder = folder.absolute()
    unfinished = folder.with_name(f"{folder.name}{UNFINISHED}")
    try:
        unfinished.mkdir(parents=True, exist_ok=True)
        write(case, unfinished / CASE)
        for file, text in rendered(case, record).items():
            (unfinished / file).write_text(text)
        (unfinished / FINDING).write_bytes(record_text(record))
        check_script(unfinished / SCRIPT, record, name)
        folder.mkdir(parents=True, exist_ok=True)
        # The one that says that it is complete comes last.
        for file in sorted(FILES, key=lambda one: one == FINDING):
            (unfinished / file).replace(folder / file)
        unfinished.rmdir()
    except OSError as error:
        raise CaseError(f"cannot write to {folder}: {error.strerror}") from error


def check_script(script: Path, record: Record, name: str) -> None:
    """Run ``script`` in a new process, with the release ``name``, away from this project.

    Raises:
        CaseError: it does not exit with 1 where ``record`` says that the bug is there, or with 0;
            or it raises where it was to show something else.
    """
    assert record.outcome is not None
    verdict = record.outcome.verdict
    ended = run_script(script, release(name), record.seconds)
    wanted = exit_code(verdict)
    if ended.code != wanted:
        raise CaseError(f"{script} exited with {ended.code}, not with {wanted}: {ended.said}")
    if verdict in _SHOWN and ended.raised:
        raise CaseError(f"{script} raised, and does not show {verdict}: {ended.said}")
