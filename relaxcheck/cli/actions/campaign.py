"""A campaign, from its plan to its page and exit code."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from relaxcheck.cli.causes import known_causes
from relaxcheck.cli.exit_codes import BAD_INPUT, FAILED, FAULT, INTERRUPTED
from relaxcheck.cli.reporters import Ended, Reporter
from relaxcheck.cli.terminal import called_as
from relaxcheck.extensions.entry_points import FIXES, require
from relaxcheck.generators.core.coverage.steering import excluded
from relaxcheck.harness.campaign.campaign import Campaign, Plan
from relaxcheck.harness.campaign.declared import take_declared, with_declared
from relaxcheck.harness.campaign.drawing import keep_hypothesis_in
from relaxcheck.harness.campaign.interruption import Interruption
from relaxcheck.harness.campaign.options import Options, check_versions
from relaxcheck.harness.campaign.state import State
from relaxcheck.harness.events import summary_of
from relaxcheck.harness.journal.journal import FILE_NAME, Journal, JournalError, Mode
from relaxcheck.harness.known.expected_failures import ExpectedFailure, declared
from relaxcheck.harness.outcomes.differential import each_version, versions
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.outcomes.severity import fails_run
from relaxcheck.harness.releases.releases import release
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.harness.workers.pools import Pools
from relaxcheck.harness.workers.starting import PoolError
from relaxcheck.reports.tables.markdown import write_page
from relaxcheck.reports.tables.results import results_of


@dataclass(frozen=True, slots=True)
class Run:
    """A campaign to run; with ``resume``, one to continue."""

    options: Options
    plan: Plan
    workers: int
    limits: Limits
    resume: bool


def run(wanted: Run, reporter: Reporter) -> int:
    """Run the campaign to its end, or until it is interrupted; the exit code.

    Raises:
        CaseError: it cannot be continued with these versions, its release is not installed, or
            the file of expected failures is malformed.
        JournalError: its folder cannot be written.
        ExtensionError: an operator or a fix that it needs is of an installed package that cannot be
            used.
        PoolError: the workers cannot start; or, at the end, those of one release ran no case.
    """
    options, plan = wanted.options, wanted.plan
    directory = options.directory
    known = declared()
    expected = [entry for entry in known if isinstance(entry, ExpectedFailure)]
    with (
        Interruption() as interruption,
        Journal(directory, Mode.RESUME if wanted.resume else Mode.NEW) as journal,
    ):
        # First of all, so that it can be continued whenever it ends.
        journal.describe(options.description)
        keep_hypothesis_in(directory / "hypothesis")
        reporter.say("Starting workers: importing TVM, PyTorch and ONNX Runtime …")
        with _workers(wanted) as pool:
            if True in plan.fixes:
                require(FIXES)
            if wanted.resume:
                check_versions(directory, journal.description, pool.environment)
            journal.describe(pool.environment)
            ran_on = each_version(journal.description)
            plan = with_declared(plan, known, ran_on)
            reporter.begin(options, versions(pool.environment), _size(wanted), plan)
            campaign = Campaign(plan, pool, journal, expected)
            interruption.defer()
            with reporter.watch(plan) as show:
                state = campaign.run(show, interruption)
        take_declared(state, known, ran_on)
        expected_lines = state.expectations.lines(known)
        earlier = tuple(finding for finding in plan.known if finding.fingerprint in state.known)
        events = summary_of(journal.events(), journal.unfinished())
        happened = (*state.expectations.notes(known), *events)
        described = journal.description
        named = known_causes(state.findings.values(), ran_on)
        results = results_of(
            state, described, expected_lines, earlier, happened, called_as(), named
        )
        code = INTERRUPTED if state.interrupted else exit_code(state)
        mute = pool.mute if isinstance(pool, Pools) and not state.interrupted else {}
        code = BAD_INPUT if mute else code
        try:
            page = write_page(directory, results)
        except OSError as error:
            reporter.end(Ended(state, results, directory, None, BAD_INPUT))
            raise JournalError(
                f"cannot write the page to {directory}: {error.strerror}. Nothing is lost: "
                f"fuzz --resume {directory} writes it from {FILE_NAME}"
            ) from error
        reporter.end(Ended(state, results, directory, page, code))
    if mute:
        why = "; ".join(f"TVM {name} ran no case: {reason}" for name, reason in mute.items())
        raise PoolError(f"{why}. Results of the other releases are in {directory}")
    return code


@contextmanager
def _workers(wanted: Run) -> Iterator[Pool | Pools]:
    """The workers, divided among the releases, which import TVM at the same time."""
    releases = [release(name, alone=True) for name in wanted.options.releases]
    size = _size(wanted) // len(releases)
    with ExitStack() as started:
        pools = {
            each.name: started.enter_context(Pool(size, wanted.limits, release=each, early=True))
            for each in releases
        }
        for family in wanted.plan.families:
            # It is kept, and asked for when the campaign opens.
            excluded(tuple(family.axes))
        for pool in pools.values():
            pool.ready()
        yield Pools(pools) if len(pools) > 1 else next(iter(pools.values()))


def _size(wanted: Run) -> int:
    """The number of workers: equally many on each release, at least one."""
    releases = len(wanted.options.releases)
    return max(1, wanted.workers // releases) * releases


def exit_code(state: State) -> int:
    """The exit code of a campaign that ended by itself at ``state``."""
    # Cases, not findings: the last failures may not have been looked into.
    counted = state.verdicts + state.special
    if Verdict.HARNESS_ERROR in counted:
        return FAULT
    if state.waiting or state.unrepeated:
        # Failures of a batch that are in no verdict: nothing shows that they are expected.
        return FAILED
    if state.new or state.known:
        # A failure that was not looked into is new, unless it fails like an expected one.
        return int(bool(state.new) or state.unexplained > 0)
    return int(any(fails_run(severity) for severity in state.severities))
