"""Room and seconds that a year's journal takes: a million cases, in shards that are merged.

    python -m tests.measure.bench.nights.journals --cases 1000000 --shards 64

Makes shards as campaigns on several machines write them, of real cases of some families with other
seeds, and of outcomes such as TVM's; merges them; then runs the commands that a person calls on the
merge, each in a process of its own, in turn with one that imports what they import. Exit codes:
0 every target is met; 1 one is missed.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from relaxcheck.generators.core.case import AnyCase, encode
from relaxcheck.generators.families import families
from relaxcheck.harness.campaign.drawing import stream
from relaxcheck.harness.campaign.merging import merge
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.journal.journal import DRAWN, FILE_NAME, Journal
from relaxcheck.harness.journal.packing import pack
from relaxcheck.harness.outcomes.outcome import Check, Outcome, Verdict
from relaxcheck.harness.releases.releases import own
from tests.measure.bench.commands import seconds
from tests.reports.html_campaign import DILATED

_ROOM = 2**30
"""Bytes that a million cases may take."""

_MERGED = 60.0
"""Seconds that merging may take."""

_COMMAND = 3.0
"""Seconds that a command may take."""

_TURNS = 3
_DRAWN = 4000
"""Cases that are drawn; the others are these with other seeds."""

_IMPORTS = (sys.executable, "-c", "import relaxcheck.cli, relaxcheck.harness.kinds")


def _outcome(case: AnyCase) -> bytes:
    checks = tuple(
        Check(binding, "n0_0", 0.0123 * number, ("pytorch", "onnxruntime"), 12)
        for number, binding in enumerate(getattr(case, "bindings", ({},)))
    )
    spent = {"tvm": 0.05933656807142866, "oracles": 0.008860802999999973, "compare": 0.000141154999}
    outcome = Outcome(Verdict.PASS, checks=checks, oracles=("pytorch",), seconds=spent)
    return pack(msgspec.json.encode(outcome))


def _rows(cases: list[AnyCase], first: int, count: int) -> Iterator[tuple[object, ...]]:
    for seed, case in zip(range(first, first + count), cycle(cases), strict=False):
        other = msgspec.structs.replace(case, seed=seed)  # type: ignore[type-var]
        row = (other.identifier, pack(encode(other)), 2461371.5 + seed / 1e6, DRAWN)
        yield (*row, str(Verdict.PASS), _outcome(other), None, None)


def _shard(folder: Path, cases: list[AnyCase], number: int, of: int, count: int) -> None:
    with Journal(folder) as journal:
        journal.describe(
            {
                "families": "add",
                "fingerprint format": "11",
                "pipelines": "build",
                "seed": "7",
                "fixes": "off",
                "drawn": "steered",
                "shard": f"{number}/{of}",
                "release": own().name,
                "apache-tvm": "0.27.0",
                "platform": "Linux",
            }
        )
        journal.store("cases", _rows(cases, number * count, count))
        # The smallest case of a finding is in the journal.
        journal.start(DILATED.case, DRAWN)
        journal.end(DILATED.case, DILATED.outcome)
        journal.count_to(DILATED.case, DILATED.fingerprint)
        journal.write_finding(DILATED.fingerprint, msgspec.json.encode(DILATED))


def bench(
    cases: Annotated[int, typer.Option(min=100, help="Cases in all.")] = 1_000_000,
    shards: Annotated[int, typer.Option(min=2, help="Shards to merge.")] = 64,
) -> None:
    """Measure the journal of a year."""
    console = Console(soft_wrap=True, highlight=False)
    drawn = list(islice(stream(families(tuple(PIPELINES)), 7), _DRAWN))
    with tempfile.TemporaryDirectory(prefix="relaxcheck-bench-") as name:
        folder = Path(name)
        parts = [folder / f"shard-{number}" for number in range(1, shards + 1)]
        for number, part in enumerate(parts, 1):
            console.print(f"making shard {number} of {shards}", style="dim")
            _shard(part, drawn, number, shards, cases // shards)
        begun = time.perf_counter()
        whole = folder / "merged"
        merge(parts, whole)
        merged = time.perf_counter() - begun
        room = (whole / FILE_NAME).stat().st_size * 1_000_000 / cases
        table = Table("", "measured", "target")
        table.add_row("room of a million cases", f"{room / 2**20:.0f} MiB", f"{_ROOM / 2**20:.0f}")
        table.add_row(f"merging {shards} shards", f"{merged:.1f} s", f"{_MERGED:g}")
        missed = room > _ROOM or merged > _MERGED
        identifier = DILATED.case.identifier
        there = ("--dir", str(whole))
        for words in (
            ("replay", identifier, *there),
            ("report", str(whole), "--no-run", "--out", str(folder / "page.html")),
            ("site", str(whole), "--out", str(folder / "site")),
        ):
            took, imports = [], []
            for turn in range(_TURNS):
                console.print(f"{words[0]}: run {turn + 1} of {_TURNS}", style="dim")
                imports.append(seconds(_IMPORTS))
                took.append(seconds((sys.executable, "-m", "relaxcheck", *words)))
            missed |= median(took) > _COMMAND
            alone = f"{median(took):.2f} s (imports alone {median(imports):.2f})"
            table.add_row(words[0], alone, f"{_COMMAND:g}")
    console.print(table)
    raise typer.Exit(int(missed))


if __name__ == "__main__":
    typer.run(bench)
