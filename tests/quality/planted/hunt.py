"""The hunt for one plant: a campaign, as anybody would start it, until the first failure."""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from generators.axes import Axis, Family, Value, non_default
from generators.families import families, family
from generators.program import Case, Valid, decode, encode
from harness.campaign import Campaign, Plan
from harness.drawing import keep_hypothesis_in
from harness.jobs import Job, Limits
from harness.journal import DRAWN, Journal
from harness.outcome import Verdict
from harness.pipelines import PIPELINES
from harness.pool import Pool
from harness.state import State
from tests.quality.planted.plant import Plant

MOST_CASES = 2000
_SECONDS = 3600.0
_GRACE = 300.0

CONTROL = "no plant"
"""What stands for a plant where there is none."""

ZYGOTE = "tests.quality.planted.zygote"


class Hunted(msgspec.Struct, frozen=True):
    """What came of the hunt for ``plant`` in the cases that ``seed`` draws.

    ``cases`` is the number of the first case that failed, from 1, or None; ``drawn`` of how many;
    ``seconds`` the CPU time that the workers took for the cases up to it. ``verdict``, ``stage``
    and ``message`` are that case's. ``blame`` is what attribution says, None where it came to no
    end; ``largest`` is the largest dimension of the reduced case, ``axes`` how many of its axes are
    off their default (None for an invalid program). ``control`` is what came of the failing and of
    the reduced case in clean workers, once it is known.
    """

    plant: str
    seed: int
    cases: int | None
    drawn: int
    seconds: float
    verdict: Verdict | None = None
    stage: str | None = None
    message: str = ""
    blame: dict[str, str] | None = None
    largest: int | None = None
    confirmed: bool | None = None
    case: msgspec.Raw = msgspec.Raw(b"null")
    reduced: msgspec.Raw = msgspec.Raw(b"null")
    control: tuple[Verdict, ...] = ()
    axes: int | None = None

    @property
    def found(self) -> bool:
        """Whether a case failed."""
        return self.cases is not None


def hunt(
    plant: Plant | None,
    seed: int,
    pool: Pool,
    most_cases: int = MOST_CASES,
    among: Sequence[Family] | None = None,
    *,
    uniform: bool = False,
    grace: float = _GRACE,
) -> Hunted:
    """Draw cases from ``seed`` until one fails on ``pool``, which has ``plant`` (None: nothing).

    They are drawn from the families ``among``, from all where it is None; ``uniform`` says that
    drawing is not steered. Then so many seconds as ``grace`` are left to look into the failure.
    """
    plan = Plan(
        families(tuple(PIPELINES)) if among is None else tuple(among),
        seed,
        _SECONDS,
        fixes=(True,),
        most_cases=most_cases,
        grace=grace,
        uniform=uniform,
    )
    with tempfile.TemporaryDirectory() as folder:
        keep_hypothesis_in(Path(folder) / "hypothesis")
        with Journal(Path(folder) / "journal") as journal:
            campaign = Campaign(plan, pool, journal, ())

            def until_first(state: State) -> None:
                if has_failed(state):
                    campaign.plan = replace(plan, most_cases=0)

            try:
                state = campaign.run(until_first)
            finally:
                # What was still looked into when the grace was over is not the next hunt's.
                for _ in pool.drain():
                    pass
                pool.take_events()
            return hunted_in(plant, seed, journal, state)


def has_failed(state: State) -> bool:
    """Whether a drawn case failed, in whichever regime."""
    return any(verdict.is_failure for verdict in (*state.verdicts, *state.special))


def hunted_in(plant: Plant | None, seed: int, journal: Journal, state: State) -> Hunted:
    """The first failure in ``journal``, with the finding that it was counted to."""
    name = CONTROL if plant is None else plant.name
    seconds = 0.0
    drawn = 0
    for drawn, recorded in enumerate(journal.cases(DRAWN), 1):
        outcome = recorded.outcome
        if outcome is None:
            continue
        seconds += sum(outcome.seconds.values())
        if not outcome.verdict.is_failure:
            continue
        finding = None if recorded.finding is None else state.findings[recorded.finding]
        return Hunted(
            name,
            seed,
            drawn,
            drawn,
            seconds,
            outcome.verdict,
            outcome.stage,
            outcome.message[:400],
            None if finding is None else finding.blame,
            None if finding is None else largest(finding.case),
            None if finding is None else finding.confirmed,
            msgspec.Raw(encode(recorded.case)),
            msgspec.Raw(b"null" if finding is None else encode(finding.case)),
            axes=None if finding is None else axes_off(finding.case),
        )
    return Hunted(name, seed, None, drawn, seconds)


def axes_off(case: Case) -> int | None:
    """How many axes of its family are off their default in ``case``; None off the grid.

    A size below its default is not counted: that is what reduction ends at.
    """
    if not isinstance(case.expect, Valid):
        return None
    made = family(case.family, tuple(PIPELINES))
    try:
        point = made.point(case)
    except ValueError:
        return None
    off = non_default(made.axes, point)
    return sum(axis.name in off and not _reduced(point[axis.name], axis) for axis in made.axes)


def _reduced(value: Value, axis: Axis) -> bool:
    numbers = isinstance(value, int) and isinstance(axis.default, int)
    return numbers and not isinstance(value, bool) and 0 < value < axis.default


def largest(case: Case) -> int:
    """The largest dimension of an input of ``case``, at its first binding."""
    sizes = [
        size for given in case.program.inputs for size in case.shape(given.name, case.bindings[0])
    ]
    return max(sizes, default=0)


def pool_with(plant: Plant) -> Pool:
    """One worker that has ``plant``."""
    return Pool(1, Limits(seconds=plant.seconds), zygote=ZYGOTE, arguments=(plant.name,))


def controlled(hunted: Hunted, clean: Pool) -> Hunted:
    """``hunted`` with what came of its cases on ``clean`` workers."""
    verdicts = []
    for raw in (hunted.case, hunted.reduced):
        if bytes(raw) == b"null":
            continue
        clean.submit(Job(decode(bytes(raw), "control")))
        ((_, outcome),) = clean.drain()
        verdicts.append(outcome.verdict)
    return msgspec.structs.replace(hunted, control=tuple(verdicts))
