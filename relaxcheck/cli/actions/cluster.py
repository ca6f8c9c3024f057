"""``relaxcheck fuzz --cluster``: the shards of a campaign on a Dask cluster, merged at the end."""

import time
from dataclasses import dataclass
from pathlib import Path

from relaxcheck.cli.actions.merge import finished
from relaxcheck.cli.exit_codes import BAD_INPUT, INTERRUPTED
from relaxcheck.cli.reporters import Ended, Reporter
from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.campaign.campaign import Plan
from relaxcheck.harness.campaign.cluster import Cluster, ShardResult
from relaxcheck.harness.campaign.drawing import Shard
from relaxcheck.harness.campaign.interruption import Interruption
from relaxcheck.harness.campaign.merging import merge
from relaxcheck.harness.campaign.options import Options
from relaxcheck.harness.journal.journal import FILE_NAME, JournalError
from relaxcheck.harness.known.status import GRAVITY, FindingStatus
from relaxcheck.harness.wording import plural
from relaxcheck.harness.workers.jobs import Limits


@dataclass(frozen=True, slots=True)
class Spread:
    """A campaign to run in ``shards``, each with ``workers`` worker processes.

    Without a number, one shard for each thread of the cluster.
    """

    options: Options
    plan: Plan
    shards: int | None
    workers: int
    limits: Limits


def spread(address: str, wanted: Spread, reporter: Reporter) -> int:
    """Run the campaign on the cluster whose scheduler is at ``address``; the exit code.

    The journal of each shard is kept in ``shards/K`` of the campaign's folder as it arrives. A lost
    shard is reported in a line, and the others are merged.

    Raises:
        CaseError: the cluster cannot be used, no shard came back, or they cannot be merged.
        JournalError: the folder cannot be written, or holds a campaign.
    """
    directory, plan = wanted.options.directory, wanted.plan
    if (directory / FILE_NAME).exists() or (directory / "shards").exists():
        raise JournalError(f"{directory} already holds a campaign; give another folder")
    began = time.monotonic()
    kept: list[Path] = []
    statuses = {finding.fingerprint: FindingStatus.UNTRIED for finding in plan.known}
    lost: list[str] = []
    unfit: list[str] = []
    with Interruption() as interruption, Cluster(address) as cluster:
        shards = wanted.shards or max(1, cluster.threads)
        size = f"{plural(shards, 'shard')} on {plural(cluster.threads, 'thread')}"
        reporter.say(f"{size} at {address} → {directory}")
        interruption.defer()
        for part in cluster.run(_arguments(wanted, shards), plan.known, interruption):
            name = f"shard {part.number}/{shards}"
            if part.journal is None:
                lost.append(f"{name} is lost: {part.last_error}")
                reporter.say(lost[-1])
                continue
            kept.append(_keep(directory / "shards" / str(part.number), part.journal))
            here = f"{plural(len(kept), 'shard is', 'shards are')} here"
            reporter.say(f"{name}: {plural(part.summary.get('cases', 0), 'case')}; {here}")
            if part.summary.get("exit_code") == BAD_INPUT:
                unfit.append(f"{name}: {part.last_error}")
            _join(statuses, part)
            if plan.until_new and part.summary.get("new"):
                cluster.stop()
        asked = interruption()
    if not kept:
        raise CaseError(f"no shard came back; {lost[0]}")
    merge(sorted(kept), directory)
    ended = finished(directory, plan.known, statuses, (*lost, *unfit))
    ended.state.started = began
    code = BAD_INPUT if unfit else ended.exit_code
    code = INTERRUPTED if asked else code
    reporter.end(Ended(ended.state, ended.results, directory, ended.page, code))
    return code


def _arguments(wanted: Spread, shards: int) -> list[tuple[str, ...]]:
    """The command line of each shard; the number of cases is divided among them."""
    options, plan = wanted.options, wanted.plan
    common = [
        *options.families,
        *("--pipelines", ",".join(options.pipelines)),
        *("--seed", str(options.seed)),
        *("--fixes", options.fixes.value),
        *("--tvm", ",".join(options.releases)),
        *("--minutes", str(plan.seconds / 60)),
        *("--workers", str(wanted.workers)),
        *("--case-seconds", str(wanted.limits.seconds)),
        *(["--uniform"] if options.uniform else []),
        *(["--until-new"] if plan.until_new else []),
    ]
    commands = []
    for number in range(1, shards + 1):
        own = [*common, "--shard", str(Shard(number, shards))]
        if plan.most_cases is not None:
            share, rest = divmod(plan.most_cases, shards)
            own += ["--cases", str(max(1, share + (number <= rest)))]
        commands.append(tuple(own))
    return commands


def _keep(folder: Path, journal: bytes) -> Path:
    try:
        folder.mkdir(parents=True)
        (folder / FILE_NAME).write_bytes(journal)
    except OSError as error:
        raise JournalError(f"cannot write to {folder}: {error.strerror}") from error
    return folder


def _join(statuses: dict[str, FindingStatus], part: ShardResult) -> None:
    for fingerprint, status in part.summary.get("known", {}).items():
        before = statuses.get(fingerprint, FindingStatus.UNTRIED)
        statuses[fingerprint] = max(before, FindingStatus(status), key=GRAVITY.index)
