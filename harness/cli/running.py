"""A campaign from its options to its page and exit code."""

import signal
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from rich.console import Console

from harness.campaign import Campaign, Plan, State
from harness.cli.terminal import called_as
from harness.cli.voices import Ended, Voice
from harness.drawing import keep_hypothesis_in
from harness.gaps import known_gaps
from harness.journal import Journal, Mode
from harness.options import Options, check_versions
from harness.outcome import Verdict
from harness.pool import Limits, Pool
from reports.page import write_page
from reports.results import results_of

_SHOWN = 10
"""Cases that a dry run shows."""

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
        CaseError: it cannot go on with these versions, or the known gaps are malformed.
        JournalError: its folder cannot be written.
        PoolError: the workers cannot start.
    """
    options, plan = wanted.options, wanted.plan
    directory = options.directory
    gaps = known_gaps()
    with Journal(directory, Mode.RESUME if wanted.resume else Mode.NEW) as journal:
        keep_hypothesis_in(directory / "hypothesis")
        voice.say("Starting the workers (TVM, PyTorch and ONNX Runtime are imported) …")
        with Pool(wanted.workers, wanted.limits) as pool:
            if wanted.resume:
                check_versions(directory, journal.description, pool.environment)
            journal.describe({**pool.environment, **options.description})
            voice.begin(options, pool.environment["apache-tvm"], wanted.workers, plan.seconds)
            campaign = Campaign(plan, pool, journal, gaps)
            interrupted = _until_the_end(campaign, voice)
            said = campaign.state.gaps.lines(gaps, datetime.now(UTC).date().isoformat())
            results = results_of(campaign.state, journal.description, said, plan.known, called_as())
            page = write_page(directory, results)
    code = _INTERRUPTED if interrupted else exit_code(campaign.state)
    voice.end(Ended(campaign.state, results, page, code))
    return code


def describe(console: Console, plan: Plan) -> None:
    """Show what ``plan`` draws from, and its first cases."""
    for one in plan.families:
        size = " × ".join(str(len(axis.values)) for axis in one.axes)
        console.print(f"[b]{one.name}[/b]: {len(one.axes)} axes ({size} values)", highlight=False)
    fixes = " and ".join("on" if side else "off" for side in plan.fixes)
    console.print(
        f"fixes {fixes}, seed {plan.seed}, {plan.seconds / 60:g} minutes; "
        "the first cases would be:",
        highlight=False,
    )
    with tempfile.TemporaryDirectory() as nowhere:
        keep_hypothesis_in(Path(nowhere))
        for case in islice(plan.cases(), _SHOWN):
            calls = ", ".join(node.operator for node in case.program.nodes)
            console.print(f"  {case.identifier}  {case.pipeline}  {calls}", highlight=False)


def exit_code(state: State) -> int:
    """The exit code of a campaign that ended by itself at ``state``."""
    # Verdicts, not findings: what failed last may not have been looked into.
    met = state.verdicts + state.special
    if Verdict.HARNESS_ERROR in met:
        return 3
    if state.known:
        return int(bool(state.new))
    return int(any(verdict.is_failure for verdict in met))


def _until_the_end(campaign: Campaign, voice: Voice) -> bool:
    """Run the campaign; True if the user interrupted it."""
    # Also where a shell started this in the background, with interrupts ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        with voice.watch(campaign.plan) as show:
            campaign.run(show)
    except KeyboardInterrupt:
        return True
    return False
