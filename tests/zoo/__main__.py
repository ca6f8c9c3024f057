"""``python -m tests.zoo``: small models through both importers, and a page about them."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from relaxcheck.harness.releases import releases as tvm_releases
from relaxcheck.harness.releases.releases import ReleaseError
from tests.zoo import expected, records
from tests.zoo.catalogue import ALL
from tests.zoo.judging import THRESHOLD
from tests.zoo.model import Model
from tests.zoo.page import PAGE, page
from tests.zoo.records import FIXES, PATHS, Cell, Result, Verdict
from tests.zoo.running import ModelError, results

EXIT_CODES = (
    "Exit codes: 0 all is as expected; 1 a verdict is not the expected one, or the fixes make a "
    "model worse; 2 bad usage."
)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(epilog=EXIT_CODES)
def zoo(
    models: Annotated[
        str, typer.Option(metavar="NAMES", help="Models or modules of the catalogue, by commas.")
    ] = "all",
    path: Annotated[str, typer.Option(help="torch, onnx or both.")] = "both",
    tvm: Annotated[str, typer.Option(help="Releases, by commas, or all.")] = "",
    fixes: Annotated[str, typer.Option(help="off, on or both.")] = "both",
    shapes: Annotated[str, typer.Option(help="static, dynamic or both.")] = "both",
    minutes: Annotated[float | None, typer.Option(help="Begin nothing after as many.")] = None,
    seconds: Annotated[float, typer.Option(help="The processor's time for a verdict.")] = 120.0,
    out: Annotated[Path, typer.Option(help="The file of results.")] = Path("runs/zoo.jsonl"),
    missing: Annotated[
        bool,
        typer.Option(
            "--missing", help="Run only cells that have no expected result, and none in --out."
        ),
    ] = False,
    accept: Annotated[bool, typer.Option(help="Make these verdicts the expected ones.")] = False,
    write_page: Annotated[bool, typer.Option("--page", help=f"Write {PAGE} alone.")] = False,
) -> None:
    """Run the models of the zoo, and compare their verdicts with the expected ones."""
    console = Console(soft_wrap=True, highlight=False, markup=False)
    every = tuple(ALL.values())
    if write_page:
        supported = tvm_releases.supported()
        Path(PAGE).write_text(page(every, expected.stored(), supported, THRESHOLD))
        return
    try:
        chosen = _chosen(models)
        releases = tvm_releases.named(tvm) if tvm else (tvm_releases.own().name,)
        paths = _option("--path", path, PATHS)
        states = _option("--fixes", fixes, FIXES)
        kinds = tuple(kind == "dynamic" for kind in _option("--shapes", shapes, _SHAPES))
    except (ReleaseError, ValueError) as error:
        console.print(str(error), style="red")
        raise typer.Exit(2) from error
    for model in chosen:
        if model.missing:
            console.print(f"{model.name} is left out: {', '.join(model.missing)} is not installed")
    ran: list[Result] = []
    done = _done(out) if missing else frozenset()
    try:
        for result in results(
            chosen, paths, kinds, releases, states, done=done,
            progress=lambda line: print(line, file=sys.stderr), seconds=seconds, minutes=minutes,
        ):  # fmt: skip
            records.merged(out, [result])
            ran.append(result)
            console.print(_line(result))
    except ModelError as error:
        console.print(str(error), style="red")
        raise typer.Exit(2) from error
    before = expected.stored()
    if accept:
        # A run that was cut short accepted nothing: what it left in the file counts too.
        known = expected.verdicts(before)
        left = [each for each in records.read(out) if missing and each.cell not in known]
        expected.write(expected.accepted([*left, *ran], before))
        before = expected.stored()
    surprises = [str(each) for each in expected.surprises(ran, before)]
    worse = list(expected.worsened(ran))
    right = sum(each.verdict is Verdict.RIGHT for each in ran)
    console.print(f"{len(ran)} results, {right} right, {len(surprises)} not as expected")
    for line in (*surprises, *worse):
        console.print(line, style="red")
    raise typer.Exit(1 if surprises or worse else 0)


_SHAPES = ("static", "dynamic")


def _chosen(names: str) -> tuple[Model, ...]:
    """The models that ``names`` lists, by their own names or those of their modules."""
    wanted = set(names.split(","))
    modules = {each.make.__module__.rpartition(".")[2] for each in ALL.values()}
    if unknown := sorted(wanted - {"all"} - set(ALL) - modules):
        raise ValueError(f"--models {unknown[0]}: there are {', '.join([*sorted(modules), *ALL])}")
    return tuple(
        each
        for each in ALL.values()
        if wanted & {"all", each.name, each.make.__module__.rpartition(".")[2]}
    )


def _done(out: Path) -> frozenset[Cell]:
    """The cells that have a result in ``out``, or an expected one."""
    return frozenset(
        [*expected.verdicts(expected.stored()), *(each.cell for each in records.read(out))]
    )


def _option(name: str, value: str, choices: tuple[str, str]) -> tuple[str, ...]:
    if value == "both":
        return choices
    if value not in choices:
        raise ValueError(f"{name} {value}: give {', '.join(choices)} or both")
    return (value,)


def _line(result: Result) -> str:
    numbers = "" if result.seconds is None else f" {1e3 * result.seconds:.2f} ms"
    place = f"TVM {result.release}, fixes {result.fixes}"
    return f"{result.trial}, {place}: {result.verdict}{numbers} {result.message}".rstrip()


if __name__ == "__main__":
    app()
