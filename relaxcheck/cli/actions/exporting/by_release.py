"""An exported case on every release, without the fixes and with them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from relaxcheck.cli.actions.exporting.running import again
from relaxcheck.cli.actions.exporting.workers import Workers
from relaxcheck.generators.core.case import AnyCase, CaseError, with_fixes
from relaxcheck.harness.compiling.undefined import UNDEFINED
from relaxcheck.harness.known.corpus import Record
from relaxcheck.harness.outcomes.errors import WRITTEN
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.fingerprint import (
    fingerprint,
    same_on_another_release,
    signature_of,
)
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.harness.workers.rooms import Rooms, Runs, by_chance
from relaxcheck.harness.workers.starting import PoolError


@dataclass(slots=True)
class Ran:
    """The verdicts of a case on a release, by ``off`` and ``on`` for the fixes.

    ``alike`` is the fingerprint of its failure without them, ``error`` the reason that the workers
    did not get to the end. ``undefined``: without them it depends on memory that nothing wrote.
    """

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    alike: str | None = None
    error: str | None = None
    undefined: bool = False


def run_on(pool: Pool, record: Record, case: AnyCase) -> Ran:
    """Run ``case`` on the release of ``pool``, each time in a new process.

    Of a case that corrupts the heap nothing but a function that writes out of bounds, or none that
    does, is a verdict; or, where no rooms show it, that a process died.

    Raises:
        CaseError: it cannot be read there.
        FaultError: relaxcheck itself fails on it.
    """
    ran = Ran()
    name = pool.release.name
    seen = record.outcome
    runs: Runs = Rooms(pool, seen) if seen is not None and WRITTEN in seen.details else pool
    chance = seen is not None and by_chance(seen)
    try:
        # There are no fixes for TIRx alone.
        sides = ((False, "off"), (True, "on")) if pool.release.has_relax else ((False, "off"),)
        for fixes, side in sides:
            switched = with_fixes(case, fixes)
            outcome = again(switched, runs, f"on {name}, fixes {side}")
            passes = outcome.verdict.is_right
            ran.verdicts[side] = Verdict.NO_ORACLE if chance and passes else outcome.verdict
            if side == "off" and outcome.verdict.is_failure:
                ran.alike = fingerprint_there(record, switched, outcome, runs)
                ran.undefined = UNDEFINED in outcome.details
    except PoolError as error:
        ran.error = str(error)
    return ran


def run_beside(workers: Workers, name: str, record: Record, case: AnyCase) -> Ran:
    """As ``run_on``, on the release ``name``, whose workers may not have started."""
    try:
        pool = workers.of(name)
    except PoolError as error:
        return Ran(error=str(error))
    return run_on(pool, record, case)


def right_with_fixes(ran: Ran) -> bool:
    """True if the case ends well with the fixes on."""
    on = ran.verdicts.get("on")
    return on is not None and on.is_right


def with_releases(record: Record, by_release: Mapping[str, Ran], entry: str | None) -> Record:
    """``record`` with what came of it on each release.

    Raises:
        CaseError: a verdict differs from the one that the corpus declares of its ``entry``.
    """
    verdicts, alike = dict(record.verdicts), dict(record.alike)
    undefined = {name for name in record.undefined if name not in by_release}
    for name, ran in by_release.items():
        for side, came in ran.verdicts.items():
            declared = record.verdict(name, fixes=side == "on")
            if ran.error is None and entry is not None and declared not in (None, came):
                raise CaseError(
                    f"{entry}: {came} on {name} with the fixes {side}, where {declared} is declared"
                )
        earlier = verdicts.get(name, {}) if ran.error is not None else {}
        verdicts[name] = {**earlier, **ran.verdicts}
        if ran.alike is not None:
            alike[name] = ran.alike
        if ran.undefined:
            undefined.add(name)
    every = tuple(name for name in verdicts if name in undefined)
    return replace(record, verdicts=verdicts, alike=alike, undefined=every)


def fingerprint_there(record: Record, case: AnyCase, outcome: Outcome, pool: Runs) -> str:
    """The fingerprint of the failure ``outcome`` of ``case``, on another release.

    Where it fails in several ways, in the recorded one among them, it is that of ``record``.
    """
    signature = signature_of(case, outcome)
    here = fingerprint(signature, record.blame)
    if record.outcome is None:
        return here
    own = signature_of(case, record.outcome)
    recorded = fingerprint(own, record.blame)
    if same_on_another_release(case, outcome, record.outcome):
        return recorded
    for part in () if here == recorded else outcome.parts:
        other = again(part, pool, f"a further failure of {case.identifier}")
        if fingerprint(signature_of(part, other), record.blame) == recorded:
            return recorded
    return here
