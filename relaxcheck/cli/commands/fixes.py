"""``relaxcheck fixes``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from relaxcheck.cli.exit_codes import EXIT_CODES
from relaxcheck.cli.options import ResultFormat
from relaxcheck.cli.terminal import one_line_errors

EPILOG = f"""Examples:

  relaxcheck fixes

  relaxcheck fixes --tvm 0.25

  relaxcheck fixes --tvm all --format json

  relaxcheck fixes --tvm all --out docs/fixes.md

A probe that runs TVM decides, never its version: "needed" if all parts of the fault are there,
"partly needed" if some are, "upstream already" if none is. fixes.install() applies the first two.

{EXIT_CODES}"""

EXPORT_EPILOG = """Apply each NAME.patch with git apply in a checkout of TVM; it brings its helpers
and a test. Patches do not stack: all.patch is all of them in one. They are made from the installed
TVM; for another revision try git apply --3way. A patch left by an earlier export is removed if this
export does not make it; where fixes are named, only theirs. "Above C++": the fault is in C++, and
the patch registers a Python function over it.

Examples:

  relaxcheck fixes export --to patches

  relaxcheck fixes export --to patches unlowered batch_matmul --tvm 0.26

Exit codes: 0 written, or upstream already; 1 a fix cannot be a patch of this release; 2 bad input,
or the release does not start; 130 interrupted."""

app = typer.Typer(add_completion=False)


@app.callback(invoke_without_command=True, epilog=EPILOG)
def fixes(
    context: typer.Context,
    tvm: Annotated[
        str | None,
        typer.Option(
            metavar="RELEASE", help="Another release, or all that are installed (default: this)."
        ),
    ] = None,
    form: Annotated[
        ResultFormat | None,
        typer.Option(
            "--format",
            help="text, or json: an array with an object for each release, and nothing else.",
            show_default="text",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="PAGE", help="Rewrite the table of this Markdown page instead."),
    ] = None,
) -> None:
    """List the fixes that the running TVM needs; or write them as patches (export)."""
    with one_line_errors():
        from relaxcheck.cli.actions import fixes as action

        if context.invoked_subcommand is None:
            action.show(tvm, form, out)
        else:
            action.check_options(tvm, form, out)


@app.command("export", epilog=EXPORT_EPILOG)
def export(
    to: Annotated[Path, typer.Option(metavar="DIR", help="Write to this folder.")],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Fixes (default: all that are needed)."),
    ] = None,
    tvm: Annotated[
        str | None, typer.Option(metavar="RELEASE", help="Another release (default: this).")
    ] = None,
) -> None:
    """Write fixes as patches of TVM's Python sources, each with a test."""
    with one_line_errors():
        from relaxcheck.cli.actions import fixes as action

        raise typer.Exit(action.export(to, names or (), tvm))
