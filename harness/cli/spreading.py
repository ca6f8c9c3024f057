"""``relaxcheck fuzz --cluster``: the shards of a campaign on a Dask cluster, merged at the end."""

import time
from dataclasses import dataclass
from pathlib import Path

from generators.program import CaseError
from harness.campaign import Plan
from harness.cli.merge import finished
from harness.cli.voices import Ended, Voice
from harness.cluster import Cluster, Part
from harness.drawing import Shard
from harness.fates import GRAVITY, Fate
from harness.interruption import Interruption
from harness.jobs import Limits
from harness.journal import FILE_NAME, JournalError
from harness.merging import merge
from harness.options import Options

_BAD = 2
_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Spread:
    """A campaign to run in parts, each with ``workers`` worker processes.

    ``shards`` is how many parts; None stands for one a thread of the cluster.
    """

    options: Options
    plan: Plan
    shards: int | None
    workers: int
    limits: Limits


def spread(address: str, wanted: Spread, voice: Voice) -> int:
    """Run the campaign on the cluster whose scheduler is at ``address``; the exit code.

    The journal of each shard is kept in ``shards/K`` of the campaign's folder as it comes. One that
    is lost is told in a line, and the others are merged.

    Raises:
        CaseError: the cluster cannot be used, no shard came back, or they cannot be merged.
        JournalError: the folder cannot be written, or holds a campaign.
    """
    directory, plan = wanted.options.directory, wanted.plan
    if (directory / FILE_NAME).exists() or (directory / "shards").exists():
        raise JournalError(f"{directory} holds a campaign already; give another folder")
    began = time.monotonic()
    kept: list[Path] = []
    fates = {one.fingerprint: Fate.UNTRIED for one in plan.known}
    lost: list[str] = []
    unfit: list[str] = []
    with Interruption() as interruption, Cluster(address) as cluster:
        shards = wanted.shards or max(1, cluster.threads)
        voice.say(f"{shards} shards on {cluster.threads} threads at {address} → {directory}")
        interruption.defer()
        for part in cluster.run(_arguments(wanted, shards), plan.known, interruption):
            name = f"shard {part.number}/{shards}"
            if part.journal is None:
                lost.append(f"{name} is lost: {part.said}")
                voice.say(lost[-1])
                continue
            kept.append(_keep(directory / "shards" / str(part.number), part.journal))
            voice.say(f"{name}: {part.summary.get('cases', 0)} cases; {len(kept)} shards are here")
            if part.summary.get("exit_code") == _BAD:
                unfit.append(f"{name}: {part.said}")
            _join(fates, part)
            if plan.until_new and part.summary.get("new"):
                cluster.stop()
        asked = interruption()
    if not kept:
        raise CaseError(f"no shard came back; {lost[0]}")
    merge(sorted(kept), directory)
    ended = finished(directory, plan.known, fates, (*lost, *unfit))
    ended.state.started = began
    code = _BAD if unfit else ended.exit_code
    code = _INTERRUPTED if asked else code
    voice.end(Ended(ended.state, ended.results, directory, ended.page, code))
    return code


def _arguments(wanted: Spread, shards: int) -> list[tuple[str, ...]]:
    """What each shard is given on its command line; the number of cases is shared out."""
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
    given = []
    for number in range(1, shards + 1):
        own = [*common, "--shard", str(Shard(number, shards))]
        if plan.most_cases is not None:
            share, rest = divmod(plan.most_cases, shards)
            own += ["--cases", str(max(1, share + (number <= rest)))]
        given.append(tuple(own))
    return given


def _keep(folder: Path, journal: bytes) -> Path:
    try:
        folder.mkdir(parents=True)
        (folder / FILE_NAME).write_bytes(journal)
    except OSError as error:
        raise JournalError(f"cannot write to {folder}: {error.strerror}") from error
    return folder


def _join(fates: dict[str, Fate], part: Part) -> None:
    for fingerprint, fate in part.summary.get("known", {}).items():
        before = fates.get(fingerprint, Fate.UNTRIED)
        fates[fingerprint] = max(before, Fate(fate), key=GRAVITY.index)
