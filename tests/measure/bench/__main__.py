"""``python -m tests.measure.bench``: a case costs, beside the naive loop and a fork a case."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from tests.measure.bench.measurement import Measured, measure
from tests.measure.bench.subjects import SUBJECTS
from tests.measure.bench.table import markdown, missed
from tests.measure.quality.showing import Showing

EXIT_CODES = "Exit codes: 0 every target is met; 1 one is missed; 2 bad usage."

DATA, PAGE = "bench.json", "BENCH.md"
PAGES = Path("reports/bench")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(epilog=EXIT_CODES)
def bench(
    cases: Annotated[int, typer.Option(min=8, help="Cases of each kind of program.")] = 300,
    chunk: Annotated[int, typer.Option(min=8, help="Cases that each runs in a turn.")] = 50,
    seed: Annotated[int, typer.Option(help="The same seed draws the same cases.")] = 1,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only kinds with NAME in their name."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for bench.json and BENCH.md.")] = PAGES,
    compare: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A bench.json to compare with.")
    ] = None,
) -> None:
    """Measure CPU seconds a case, and compare; ratios within one run, so that noise cancels."""
    console = Console(soft_wrap=True, highlight=False)
    earlier = None
    if compare is not None:
        try:
            earlier = msgspec.json.decode(compare.read_bytes(), type=Measured)
        except (OSError, msgspec.DecodeError) as error:
            console.print(f"{compare}: {error}", style="red", markup=False)
            raise typer.Exit(2) from error
    if only and out == PAGES:
        console.print("--only measures a part: choose another folder with --out", style="red")
        raise typer.Exit(2)
    subjects = [s for s in SUBJECTS if any(name in s.name for name in only or [""])]
    if not subjects:
        known = ", ".join(subject.name for subject in SUBJECTS)
        console.print(f"--only {', '.join(only or [])}: known are {known}", style="red")
        raise typer.Exit(2)
    with Showing(console, "bench") as show:
        measured = measure(cases, chunk, seed, show, subjects)
    page = markdown(measured, earlier)
    out.mkdir(parents=True, exist_ok=True)
    (out / DATA).write_bytes(msgspec.json.format(msgspec.json.encode(measured), indent=1) + b"\n")
    (out / PAGE).write_text(page)
    console.print(page, markup=False)
    raise typer.Exit(1 if missed(measured) else 0)


if __name__ == "__main__":
    app()
