"""``relaxcheck fuzz``: from its options to a campaign."""

import os
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from math import inf
from pathlib import Path

from relaxcheck.cli.actions.campaign import Run, run
from relaxcheck.cli.actions.cluster import Spread, spread
from relaxcheck.cli.options import MOST_WORKERS, Format
from relaxcheck.cli.pipelines import named_by_user
from relaxcheck.cli.reporters import (
    JsonLinesReporter,
    QuietReporter,
    Reporter,
    SummaryReporter,
    TextReporter,
)
from relaxcheck.cli.terminal import RUNS, console
from relaxcheck.extensions import entry_points
from relaxcheck.extensions.naming import is_own
from relaxcheck.extensions.pipelines import allow, refusal
from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.targets import LLVM
from relaxcheck.harness.campaign.campaign import Plan
from relaxcheck.harness.campaign.drawing import WHOLE, keep_hypothesis_in
from relaxcheck.harness.campaign.fixes import Fixes
from relaxcheck.harness.campaign.options import ALL as ALL_FAMILIES
from relaxcheck.harness.campaign.options import (
    Options,
    check_without_relax,
    chosen_families,
    chosen_pipelines,
    resumed,
)
from relaxcheck.harness.campaign.options import shard as shard_of
from relaxcheck.harness.journal.journal import Journal, Mode
from relaxcheck.harness.kinds import operators, way
from relaxcheck.harness.known.known import known_findings
from relaxcheck.harness.native.toolchain import chosen_target
from relaxcheck.harness.releases.releases import ALL, left_out, named, own
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.wording import plural
from relaxcheck.harness.workers.jobs import Limits

_MINUTES = 5.0
_SHOWN = 10
"""Cases of a dry run."""
_LONGER = 3
"""The deadline of a case that is run again to confirm a failure, in those of a drawn one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The options of the command line; None where one was not given."""

    families: list[str] | None
    pipelines: list[str] | None
    target: str | None
    fixes: Fixes | None
    tvm: str | None
    seed: int | None
    shard: str | None
    uniform: bool
    out: Path | None
    resume: Path | None
    minutes: float | None
    cases: int | None
    until_new: bool
    known: list[Path]
    workers: str
    case_seconds: float
    recycle: int | None
    cluster: str | None
    shards: int | None


def fuzz(request: Request, reporter: Reporter) -> int:
    """Run the campaign; the exit code.

    Raises:
        CaseError: bad options, or as ``actions.campaign.run`` and ``actions.cluster.spread``.
        JournalError, PoolError: as these two.
    """
    options = _options(request)
    plan = _plan(request, options)
    limits = Limits(
        request.case_seconds,
        _LONGER * request.case_seconds,
        cases=request.recycle or Limits().cases,
    )
    for line in left_out() if request.tvm == ALL else ():
        reporter.say(line)
    if request.cluster is not None:
        if request.resume is not None or request.shard is not None:
            raise CaseError("--cluster makes its own shards; leave out --resume and --shard")
        # A thread of the cluster stands for a core.
        size = 1 if request.workers == "auto" else _workers(request.workers)
        return spread(
            request.cluster, Spread(options, plan, request.shards, size, limits), reporter
        )
    if request.shards is not None:
        raise CaseError("--shards needs --cluster; for one shard on this machine give --shard K/N")
    size = _workers(request.workers)
    return run(Run(options, plan, size, limits, request.resume is not None), reporter)


def describe(request: Request) -> None:
    """Print the plan and its first cases. Raises as ``fuzz``."""
    plan = _plan(request, _options(request))
    out = console()
    for family in plan.families:
        size = " × ".join(str(len(axis.values)) for axis in family.axes)
        axes = plural(len(family.axes), "axis", "axes")
        out.print(f"[b]{family.name}[/b]: {axes} ({size} values)", highlight=False)
    fixes = " and ".join("on" if side else "off" for side in plan.fixes)
    out.print(
        f"fixes {fixes}, seed {plan.seed}, {plan.extent}; the first cases would be:",
        highlight=False,
    )
    with tempfile.TemporaryDirectory() as nowhere:
        keep_hypothesis_in(Path(nowhere))
        for case in islice(plan.cases(), _SHOWN):
            about = ", ".join(operators(case))
            out.print(f"  {case.identifier}  {way(case)}  {about}", highlight=False)


def reporter(form: Format, summary: Path | None, *, quiet: bool, all_messages: bool) -> Reporter:
    """The reporter for these options. Raises ``CaseError`` where they exclude each other."""
    if quiet and form is Format.JSONL:
        raise CaseError("--quiet and --format jsonl exclude each other")
    kind = QuietReporter if quiet else TextReporter
    chosen: Reporter = kind(console(), all_messages=all_messages)
    if form is Format.JSONL:
        chosen = JsonLinesReporter(lambda line: print(line, flush=True))
    return chosen if summary is None else SummaryReporter(chosen, summary)


def _options(request: Request) -> Options:
    pipelines = None if request.pipelines is None else named_by_user(request.pipelines)
    if request.resume is not None:
        # It says anew that code of the user's own may be imported.
        others = [name for name in pipelines or () if not is_own(name)]
        fixed = {
            "FAMILY": request.families,
            "--pipelines": others or None,
            "--target": request.target,
            "--fixes": request.fixes,
            "--tvm": request.tvm,
            "--seed": request.seed,
            "--shard": request.shard,
            "--out": request.out,
            "--uniform": request.uniform or None,
        }
        return resumed(request.resume, [name for name, value in fixed.items() if value is not None])
    fixes = request.fixes or Fixes.OFF
    target = chosen_target(request.target or LLVM).name
    releases = (own().name,) if request.tvm is None else named(request.tvm, alone=True)
    stamp = datetime.now(UTC).strftime("%Y-%m-%d-%H%M%S")
    if not request.families or ALL_FAMILIES in request.families:
        # They would be all but those, and a seed would draw other cases.
        entry_points.require(entry_points.OPERATORS, entry_points.KINDS)
    options = Options(
        chosen_families(request.families, target),
        chosen_pipelines(pipelines, target),
        random.SystemRandom().randrange(2**31) if request.seed is None else request.seed,
        fixes,
        request.uniform,
        WHOLE if request.shard is None else shard_of(request.shard),
        " ".join(releases),
        request.out or RUNS / f"{stamp}-fixes-{fixes.value}",
        target,
    )
    check_without_relax(options)
    return options


def _plan(request: Request, options: Options) -> Plan:
    seconds, cases = _extent(request)
    return options.plan(
        seconds,
        cases,
        _known(request.known, options),
        until_new=request.until_new,
    )


def _known(campaigns: Sequence[Path], options: Options) -> tuple[Finding, ...]:
    """The findings of ``campaigns``.

    Raises:
        CaseError: to try one takes a pipeline of the user's own, which nobody named.
        JournalError: as ``known_findings``.
    """
    found = known_findings(campaigns)
    for finding in found:
        pipeline = str(getattr(finding.case, "pipeline", ""))
        tried = (
            finding.case.family in options.families and finding.case.fixes in options.fixes.sides
        )
        if not (tried and is_own(pipeline)):
            continue
        if refusal(pipeline):
            raise CaseError(
                f"--known {' '.join(map(str, campaigns))}: the finding {finding.fingerprint} is "
                f"compiled by {pipeline}, which a case alone may not have imported; if it is "
                f"yours, name it: --pipeline {pipeline} (beside TVM's: --pipelines "
                f"build,{pipeline})"
            )
        # One that an installed package registers: workers on other releases have no such package.
        allow([pipeline])
    return found


def _extent(request: Request) -> tuple[float, int | None]:
    """The seconds and cases after which it ends; of a resumed campaign those that it has left."""
    if request.minutes is not None:
        return request.minutes * 60, request.cases
    if request.cases is not None:
        return inf, request.cases
    left = None
    if request.resume is not None:
        with Journal(request.resume, Mode.READ) as journal:
            left = journal.left
    return left or (_MINUTES * 60, None)


def _workers(wanted: str) -> int:
    if wanted == "auto":
        return len(os.sched_getaffinity(0))
    # Python refuses to read numbers of thousands of digits.
    if not wanted.isascii() or not wanted.isdecimal() or len(wanted) > 9:
        raise CaseError(f"--workers {wanted[:20]}: give auto, or a number from 1 to {MOST_WORKERS}")
    if not 1 <= int(wanted) <= MOST_WORKERS:
        raise CaseError(f"--workers {wanted}: give auto, or a number from 1 to {MOST_WORKERS}")
    return int(wanted)
