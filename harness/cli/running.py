"""A campaign from its options to its page and exit code."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from rich.console import Console

from generators.cases import operators, way
from harness.campaign import Campaign, Plan
from harness.cli.terminal import called_as
from harness.cli.voices import Ended, Voice
from harness.differential import each_version, versions
from harness.drawing import keep_hypothesis_in
from harness.events import told
from harness.gaps import Gap, declared
from harness.interruption import Interruption
from harness.jobs import Limits
from harness.journal import FILE_NAME, Journal, JournalError, Mode
from harness.known import take_declared, with_declared
from harness.options import Options, check_versions
from harness.outcome import Verdict
from harness.pool import Pool, PoolError
from harness.pools import Pools
from harness.releases import release
from harness.state import State
from reports.page import write_page
from reports.results import results_of

_SHOWN = 10
"""Cases that a dry run shows."""

_BAD = 2
_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Run:
    """A campaign to run; ``resume``: one that is there already, to go on with."""

    options: Options
    plan: Plan
    workers: int
    limits: Limits
    resume: bool


def run(wanted: Run, voice: Voice) -> int:
    """Run the campaign to its end, or until it is interrupted; the exit code.

    Raises:
        CaseError: it cannot go on with these versions, its release is not installed, or what is
            declared as known is malformed.
        JournalError: its folder cannot be written.
        PoolError: the workers cannot start; or the campaign is over, and those of a release never
            ran anything.
    """
    options, plan = wanted.options, wanted.plan
    directory = options.directory
    known = declared()
    gaps = [one for one in known if isinstance(one, Gap)]
    with (
        Interruption() as interruption,
        Journal(directory, Mode.RESUME if wanted.resume else Mode.NEW) as journal,
    ):
        # At once, so that it can go on wherever it is ended.
        journal.describe(options.description)
        keep_hypothesis_in(directory / "hypothesis")
        voice.say("Starting the workers (TVM, PyTorch and ONNX Runtime are imported) …")
        with _workers(wanted) as pool:
            if wanted.resume:
                check_versions(directory, journal.description, pool.environment)
            journal.describe(pool.environment)
            ran_on = each_version(journal.description)
            plan = with_declared(plan, known, ran_on)
            voice.begin(options, versions(pool.environment), _size(wanted), plan)
            campaign = Campaign(plan, pool, journal, gaps)
            interruption.defer()
            with voice.watch(plan) as show:
                state = campaign.run(show, interruption)
        take_declared(state, known, ran_on)
        said = state.gaps.lines(known)
        earlier = tuple(one for one in plan.known if one.fingerprint in state.known)
        events = told(journal.events(), journal.unfinished())
        happened = (*state.gaps.notes(known), *events)
        described = journal.description
        results = results_of(state, described, said, earlier, happened, called_as())
        code = _INTERRUPTED if state.interrupted else exit_code(state)
        mute = pool.mute if isinstance(pool, Pools) and not state.interrupted else {}
        code = _BAD if mute else code
        try:
            page = write_page(directory, results)
        except OSError as error:
            voice.end(Ended(state, results, directory, None, _BAD))
            raise JournalError(
                f"cannot write the page to {directory}: {error.strerror}; everything is in "
                f"{FILE_NAME}, and fuzz --resume {directory} writes the page again"
            ) from error
        voice.end(Ended(state, results, directory, page, code))
    if mute:
        why = "; ".join(f"TVM {name} ran no case at all: {said}" for name, said in mute.items())
        raise PoolError(f"{why}. What ran on the others is in {directory}")
    return code


@contextmanager
def _workers(wanted: Run) -> Iterator[Pool | Pools]:
    """The workers, shared out among the releases where there are several."""
    releases = [release(name) for name in wanted.options.releases]
    if len(releases) == 1:
        with Pool(wanted.workers, wanted.limits, release=releases[0]) as pool:
            yield pool
        return
    size = _size(wanted) // len(releases)
    with ExitStack() as started:
        yield Pools(
            {
                one.name: started.enter_context(Pool(size, wanted.limits, release=one))
                for one in releases
            }
        )


def _size(wanted: Run) -> int:
    """How many workers there are: as many on each release, one at least."""
    releases = len(wanted.options.releases)
    return max(1, wanted.workers // releases) * releases


def describe(console: Console, plan: Plan) -> None:
    """Show what ``plan`` draws from, and its first cases."""
    for one in plan.families:
        size = " × ".join(str(len(axis.values)) for axis in one.axes)
        console.print(f"[b]{one.name}[/b]: {len(one.axes)} axes ({size} values)", highlight=False)
    fixes = " and ".join("on" if side else "off" for side in plan.fixes)
    console.print(
        f"fixes {fixes}, seed {plan.seed}, {plan.extent}; the first cases would be:",
        highlight=False,
    )
    with tempfile.TemporaryDirectory() as nowhere:
        keep_hypothesis_in(Path(nowhere))
        for case in islice(plan.cases(), _SHOWN):
            about = ", ".join(operators(case))
            console.print(f"  {case.identifier}  {way(case)}  {about}", highlight=False)


def exit_code(state: State) -> int:
    """The exit code of a campaign that ended by itself at ``state``."""
    # Verdicts, not findings: what failed last may not have been looked into.
    met = state.verdicts + state.special
    if Verdict.HARNESS_ERROR in met:
        return 3
    if state.waiting or state.unrepeated:
        # What failed in a block and is in no verdict: nothing can tell that it is known.
        return 1
    if state.new or state.known:
        # What was not looked into is new too, unless it fails like something that is known.
        return int(bool(state.new) or state.unexplained > 0)
    return int(any(verdict.is_failure for verdict in met))
