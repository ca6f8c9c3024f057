"""``python -m tests.measure.quality``: measure how far the harness's verdicts can be trusted."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from relaxcheck.harness.campaign.interruption import Interruption
from relaxcheck.harness.releases.environment import VARIABLES, versions

# Some sections compute in this process; what they import reads these at once.
os.environ.update(VARIABLES)

from tests.measure.quality.record import Measured, RecordError, commit, read, write
from tests.measure.quality.section import Section
from tests.measure.quality.sections import NAMES, MissingSection, section
from tests.measure.quality.showing import Showing

EXIT_CODES = """Exit codes: 0 every target is met; 1 a target is missed, or a section could not be
measured; 2 bad usage; 130 interrupted (what was measured until then is kept)."""

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(epilog=EXIT_CODES)
def quality(
    sections: Annotated[
        list[str] | None, typer.Argument(help=f"Which: {', '.join(NAMES)} (default: all).")
    ] = None,
    share: Annotated[
        float, typer.Option(min=0.0001, max=1, help="Share of the full size to measure.")
    ] = 1,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = os.cpu_count() or 1,
    out: Annotated[Path, typer.Option(help="Where quality.json and QUALITY.md go.")] = Path(
        "reports/quality"
    ),
) -> None:
    """Measure sections one after the other; merge them into the report that is there."""
    console = Console(stderr=False, soft_wrap=True, highlight=False)
    for name in sections or ():
        if name not in NAMES:
            _stop(console, f"no section {name!r}; the sections are {', '.join(NAMES)}")
    try:
        record = read(out)
    except RecordError as error:
        _stop(console, str(error))
    lost: list[str] = []
    for name in dict.fromkeys(sections or NAMES):
        try:
            chosen = section(name)
        except MissingSection as error:
            lost.append(str(error))
            console.print(str(error))
            continue
        try:
            with Interruption():
                measured = _measured(console, chosen, share, workers)
        except KeyboardInterrupt:
            console.print(f"interrupted in {name}; what was measured before is in {out}")
            raise typer.Exit(130) from None
        record = record.with_section(name, measured)
        write(record, out)
        lost += [f"{name}: {line}" for line in measured.missed]
    console.print(f"\n{out / 'QUALITY.md'}")
    for line in lost:
        console.print(f"missed: {line}", style="red")
    if lost:
        raise typer.Exit(1)
    console.print("every target is met", style="green")


def _measured(console: Console, chosen: Section, share: float, workers: int) -> Measured:
    began, of = datetime.now(UTC), commit()
    with Showing(console, chosen.name) as show:
        figures: Any = chosen.measure(share, workers, show)
    return Measured(
        date=began.date().isoformat(),
        share=share,
        workers=workers,
        seconds=round((datetime.now(UTC) - began).total_seconds(), 1),
        versions=versions(),
        figures=figures,
        missed=tuple(chosen.missed(figures)),
        commit=of,
    )


def _stop(console: Console, why: str) -> None:
    console.print(why, style="red")
    raise typer.Exit(2)


if __name__ == "__main__":
    app()
