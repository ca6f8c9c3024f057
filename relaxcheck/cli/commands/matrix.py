"""``relaxcheck matrix``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from relaxcheck.cli.exit_codes import EXIT_CODES
from relaxcheck.cli.options import MOST_WORKERS, CaseSeconds, PipelineName, Releases
from relaxcheck.cli.terminal import one_line_errors

EPILOG = f"""Examples:

  relaxcheck matrix

  relaxcheck matrix --scripts --workers 2

  relaxcheck matrix runs/FOLDER --tvm 0.26 --tvm 0.27 --out .

Exit code 1: a verdict differs from the declared one, an undeclared case fails with the fixes on, or
a script's exit code contradicts its case; 2: no release could run; 3: relaxcheck itself failed on a
case, which is named.

{EXIT_CODES}"""

app = typer.Typer(add_completion=False)


@app.command(epilog=EPILOG)
def matrix(
    cases: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="CASE",
            help="Case files, ids, corpus entries, campaigns (their findings), or folders of these "
            "(default: the corpus and every expected failure).",
        ),
    ] = None,
    tvm: Releases = None,
    pipeline: PipelineName = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the page and its data here (default: reports/matrix if everything ran on "
            "every release; else nowhere).",
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=MOST_WORKERS, help="Worker processes.")] = 1,
    case_seconds: CaseSeconds = 60,
    scripts: Annotated[
        bool,
        typer.Option(
            "--scripts",
            help="Also run each entry's repro.py on each release, and compare its exit code with "
            "the verdict.",
        ),
    ] = False,
) -> None:
    """Run cases on every installed TVM release, with the fixes off and on."""
    with one_line_errors():
        from relaxcheck.cli.actions import matrix as action

        code = action.matrix(
            cases or (),
            tvm,
            pipeline,
            out,
            workers=workers,
            case_seconds=case_seconds,
            scripts=scripts,
        )
    raise typer.Exit(code)
