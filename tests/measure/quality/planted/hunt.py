"""The hunt for one plant: a campaign, as anybody would start it, until the first failure."""

import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import msgspec

from relaxcheck.generators.core.axes import Axis, Family, is_size, non_default, point_of
from relaxcheck.generators.core.case import Valid, Value, encode
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.families import every
from relaxcheck.generators.gradients.family import PREFIX
from relaxcheck.harness.campaign.campaign import Campaign, Plan
from relaxcheck.harness.campaign.declared import with_declared
from relaxcheck.harness.campaign.drawing import keep_hypothesis_in
from relaxcheck.harness.campaign.state import State
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.journal.journal import DRAWN, Journal
from relaxcheck.harness.kinds import decode
from relaxcheck.harness.known.expected_failures import ExpectedFailure, declared
from relaxcheck.harness.outcomes.differential import each_version
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.pool import Pool
from tests.measure.quality.planted.place import families_beside, place
from tests.measure.quality.planted.plant import Plant

MOST_CASES = 2000
_SECONDS = 3600.0
_GRACE = 300.0

CONTROL = "no plant"
"""The name that stands for no plant."""

ZYGOTE = "tests.measure.quality.planted.zygote"

Placed = Callable[[str, int, int], int]
"""The number of a case in a campaign, by its family, its number there, and the seed."""


class Hunted(msgspec.Struct, frozen=True):
    """The result of the hunt for ``plant`` in the cases that ``seed`` draws.

    ``cases`` is the number of the first case that failed, from 1, or None; ``drawn`` of how many;
    ``seconds`` the CPU time that the workers took for the cases up to it; ``everywhere`` is its
    number in a campaign over all families. ``verdict``, ``stage`` and ``message`` are that case's.
    ``blame`` is what attribution says, None where it came to no end; ``largest`` is the largest
    dimension of the reduced case, ``axes`` how many of its axes are off their default (None for an
    invalid program). ``control`` is what came of the failing and of the reduced case in clean
    workers, once it is known. ``culprit`` is the pass that bisection names, and ``nodes`` the size
    of the case that it was named for, where that was asked.
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
    everywhere: int | None = None
    culprit: str | None = None
    nodes: int | None = None

    @property
    def is_found(self) -> bool:
        """True if a case failed."""
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
    placed: Placed = place,
) -> Hunted:
    """Draw cases from ``seed`` until one fails on ``pool``, which has ``plant`` (None: nothing).

    They are drawn from the families ``among``, where it is None from those of the plant's
    operators; ``uniform`` turns steering off. Then so many seconds as ``grace`` are left to look
    into the failure. Failures that are declared for this TVM do not count, and with a plant those
    do not that happen without it too. ``placed`` says which case of a larger campaign one is.
    """
    known = declared()
    plan = Plan(
        families_of(plant) if among is None else tuple(among),
        seed,
        _SECONDS,
        fixes=(True,),
        most_cases=most_cases,
        grace=grace,
        uniform=uniform,
    )
    plan = with_declared(plan, known, each_version(pool.environment))
    gaps = [entry for entry in known if isinstance(entry, ExpectedFailure)]
    with tempfile.TemporaryDirectory() as folder:
        keep_hypothesis_in(Path(folder) / "hypothesis")
        with Journal(Path(folder) / "journal") as journal:
            campaign = Campaign(plan, pool, journal, gaps)
            fails_without = None if plant is None else _remembered(_fails_clean)
            looked_at = 0

            def until_first(state: State) -> None:
                nonlocal looked_at
                ended = fails_without is None and has_failed(state)
                if fails_without is not None and (failures := _failures(state)) > looked_at:
                    looked_at = failures
                    ended = hunted_in(plant, seed, journal, state, fails_without, placed).is_found
                if ended:
                    campaign.plan = replace(plan, most_cases=0)

            try:
                state = campaign.run(until_first)
            finally:
                # Jobs that ran on when the grace was over must not reach the next hunt.
                for _ in pool.drain():
                    pass
                pool.take_events()
            return hunted_in(plant, seed, journal, state, fails_without, placed)


FailsWithout = Callable[[Case], bool]
"""True if a case fails without the planted bug too."""


def _remembered(fails: FailsWithout) -> FailsWithout:
    """``fails``, asked once a case."""
    answers: dict[str, bool] = {}

    def ask(case: Case) -> bool:
        if case.identifier not in answers:
            answers[case.identifier] = fails(case)
        return answers[case.identifier]

    return ask


def _fails_clean(case: Case) -> bool:
    clean = clean_pool()
    clean.submit(Job(case))
    ((_, outcome),) = clean.drain()
    return outcome.verdict.is_failure


@lru_cache(maxsize=1)
def clean_pool() -> Pool:
    """A worker without any plant, one for each process; it ends with it."""
    return Pool(1)


WHOLE = (
    *("attention", "attention_var_len"),
    *(f"conv{rank}d_transpose" for rank in (1, 2, 3)),
)
"""The operators, without their module, that plants which name none are in."""


def families_of(plant: Plant | None) -> tuple[Family, ...]:
    """The families that the hunt for ``plant`` draws from: those of its operators, or all."""
    known = every(tuple(PIPELINES))
    if plant is None:
        return known
    wanted = {name.rpartition(".")[2] for name in plant.operators or WHOLE}
    if plant.gradient:
        wanted = {f"{PREFIX}-{name}" for name in wanted}
    return tuple(family for family in known if family.name.rpartition(".")[2] in wanted)


def has_failed(state: State) -> bool:
    """True if a drawn case failed, in any regime, in a way that is not known."""
    if state.known:
        # Each failure may be a known one, until it has its finding.
        return not state.findings.keys() <= state.known.keys()
    return _failures(state) > 0


def _failures(state: State) -> int:
    counts = (*state.verdicts.items(), *state.special.items())
    return sum(number for verdict, number in counts if verdict.is_failure)


def hunted_in(
    plant: Plant | None,
    seed: int,
    journal: Journal,
    state: State,
    fails_without: FailsWithout | None = None,
    placed: Placed = place,
) -> Hunted:
    """The first failure in ``journal`` that is not known, with the finding it was counted to.

    With ``fails_without``, the first for which that is False: a failure that was not looked into
    may have a known cause.
    """
    name = CONTROL if plant is None else plant.name
    seconds = 0.0
    drawn = 0
    of_family: Counter[str] = Counter()
    for drawn, recorded in enumerate(journal.cases(DRAWN), 1):
        of_family[recorded.case.family] += 1
        outcome = recorded.outcome
        if outcome is None:
            continue
        seconds += sum(outcome.seconds.values())
        if not outcome.verdict.is_failure or recorded.expected_by:
            continue
        if recorded.finding in state.known:
            continue
        if fails_without is not None and fails_without(recorded.case):
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
            axes=None if finding is None else axes_off(finding.case, finding.blame),
            everywhere=placed(recorded.case.family, of_family[recorded.case.family], seed),
        )
    return Hunted(name, seed, None, drawn, seconds)


def axes_off(case: Case, blame: Collection[str] = ()) -> int | None:
    """The number of axes of its family off their default in ``case``; None off the grid.

    A size below its default is not counted, nor a familiar size that no ``blame`` names: that is
    what reduction ends at.
    """
    if not isinstance(case.expect, Valid):
        return None
    try:
        (made,) = (each for each in families_beside(case.family) if each.name == case.family)
        point = point_of(made, case)
    except ValueError:
        return None
    off = non_default(made.axes, point)
    return sum(
        axis.name in off and not _reduced(point[axis.name], axis, blamed=axis.name in blame)
        for axis in made.axes
    )


def _reduced(value: Value, axis: Axis, *, blamed: bool) -> bool:
    if not (is_size(value) and is_size(axis.default)):
        return False
    return value < axis.default or (value in axis.familiar and not blamed)


def largest(case: Case) -> int:
    """The largest dimension of an input of ``case``, at its first binding."""
    sizes = [size for tensor in case.inputs for size in case.shape(tensor.name, case.bindings[0])]
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
