"""``python -m tests.measure.baseline``: verdict and cause of stored cases, then and now.

    python -m tests.measure.baseline record FILE --cases 4000 --seed 22
    python -m tests.measure.baseline compare FILE [--tvm 0.25] [--limit 500]

``record`` draws cases of every family, every second of them with the fixes on, runs them and
writes a line of JSON a case. ``compare`` runs the stored cases again and lists those that end
otherwise, grouped by how they changed. It ends with 1 where there are any.
"""

import gzip
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from msgspec.structs import replace
from rich.progress import track

from relaxcheck.generators.calls import expectation
from relaxcheck.generators.core.case import AnyCase, Valid, encode, with_fixes
from relaxcheck.generators.core.program import Case
from relaxcheck.harness import kinds
from relaxcheck.harness.campaign.drawing import stream
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.releases import releases
from relaxcheck.harness.triage.fingerprint import signature_of
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False)

_SAID_BY_TVM = frozenset({Verdict.SILENT_BAIL, Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED})
"""Verdicts whose cause is a message of TVM's: elsewhere the message is ours."""


class Ending(msgspec.Struct, frozen=True):
    """The end of a case: its verdict, the stage, the operator blamed, and TVM's folded message."""

    verdict: str
    stage: str | None
    operator: str
    cause: str

    @property
    def signature(self) -> tuple[str, str | None, str]:
        """The part that must not change: verdict, stage, and the message where it is TVM's."""
        return self.verdict, self.stage, self.cause if self.verdict in _SAID_BY_TVM else ""


class Stored(msgspec.Struct, frozen=True):
    """A case as canonical JSON, and its ending on each release."""

    case: msgspec.Raw
    on: dict[str, Ending]


def ending(case: AnyCase, outcome: Outcome) -> Ending:
    """The ending of ``case``, whose run gave ``outcome``."""
    signature = signature_of(case, outcome)
    return Ending(str(outcome.verdict), outcome.stage, signature.operator, signature.message)


def load(file: Path) -> list[Stored]:
    """The lines of ``file``, gzipped JSON.

    Raises:
        OSError: it cannot be read.
        msgspec.DecodeError: a line is no stored case.
    """
    with gzip.open(file, "rb") as lines:
        return [msgspec.json.decode(line, type=Stored) for line in lines]


def _as_drawn_now(row: Stored) -> AnyCase:
    """The case of ``row``; a program that has no size of a symbol alone is ill-formed by now."""
    case = kinds.decode(bytes(row.case))
    if isinstance(case, Case) and isinstance(case.expect, Valid):
        return replace(case, expect=expectation(case.program))
    return case


def store(file: Path, rows: Iterable[Stored]) -> None:
    """Write ``rows`` to ``file``; the same rows give the same bytes."""
    text = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
    file.write_bytes(gzip.compress(text, mtime=0))


def changes(
    before: Mapping[str, Ending], after: Mapping[str, Ending]
) -> Iterator[tuple[str, Ending, Ending]]:
    """The identifiers in both whose signature differs, with the ending before and after."""
    for name in before.keys() & after.keys():
        if before[name].signature != after[name].signature:
            yield name, before[name], after[name]


def run(cases: Sequence[AnyCase], release: str, workers: int) -> dict[str, Ending]:
    """The ending of each of ``cases`` on ``release``, by identifier."""
    with Pool(workers, release=releases.release(release)) as pool:
        pool.submit(*map(Job, cases))
        ended = track(pool.drain(), f"TVM {release}", len(cases), disable=not sys.stdout.isatty())
        return {job.case.identifier: ending(job.case, outcome) for job, outcome in ended}


@app.command()
def record(
    file: Path,
    cases: Annotated[int, typer.Option(min=1)] = 4000,
    seed: int = 22,
    tvm: Annotated[str, typer.Option(help="Releases, with commas.")] = "0.27",
    workers: Annotated[int, typer.Option(min=1)] = 2,
) -> None:
    """Draw cases, run them, store how they ended."""
    drawn = [
        with_fixes(case, bool(number % 2))
        for number, case in enumerate(islice(stream(kinds.families(), seed), cases))
    ]
    on = {release: run(drawn, release, workers) for release in tvm.split(",")}
    store(
        file,
        (
            Stored(
                msgspec.Raw(encode(case)),
                {release: endings[case.identifier] for release, endings in on.items()},
            )
            for case in drawn
        ),
    )
    print(f"{len(drawn)} cases in {file}")


@app.command()
def compare(
    file: Path,
    tvm: Annotated[str, typer.Option(help="Releases, with commas (default: all stored).")] = "",
    limit: Annotated[int, typer.Option(min=1, help="Run so many cases only.")] = sys.maxsize,
    workers: Annotated[int, typer.Option(min=1)] = 2,
    show: Annotated[int, typer.Option(help="Cases shown of each change.")] = 3,
) -> None:
    """Run stored cases again and list those that end otherwise."""
    rows = load(file)[:limit]
    by_name = {(case := _as_drawn_now(row)).identifier: (case, row) for row in rows}
    differing = 0
    for release in tvm.split(",") if tvm else sorted({name for row in rows for name in row.on}):
        mine = {name: case for name, (case, row) in by_name.items() if release in row.on}
        after = run(list(mine.values()), release, workers)
        before = {name: by_name[name][1].on[release] for name in mine}
        groups = defaultdict(list)
        for name, was, now in changes(before, after):
            groups[was.verdict, was.stage, now.verdict, now.stage].append((name, was, now))
        differing += sum(map(len, groups.values()))
        print(f"TVM {release}: {len(after)} cases, {sum(map(len, groups.values()))} end otherwise")
        for (verdict, stage, verdict_now, stage_now), members in sorted(
            groups.items(), key=lambda group: -len(group[1])
        ):
            print(f"  {len(members)}: {verdict} in {stage} → {verdict_now} in {stage_now}")
            for name, was, now in members[:show]:
                print(f"    {name} {was.operator}: {was.cause!r} → {now.cause!r}")
    raise typer.Exit(1 if differing else 0)


if __name__ == "__main__":
    app()
