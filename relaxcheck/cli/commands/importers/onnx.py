"""``relaxcheck onnx``: its options."""

from typing import Annotated

import typer

from relaxcheck.cli.exit_codes import EXIT_CODES
from relaxcheck.cli.options import MOST_WORKERS, ReleasesToRun, ResultFormat, Switch
from relaxcheck.cli.terminal import one_line_errors

EPILOG = f"""Expected failures are in corpus/onnx-suite.json: one row for each cause, with the
number of tests that fail by it on each release. Exit code 1: with the fixes on, a failure is not
expected, or a number is off; or a test passes without the fixes and fails with them.

Examples:

  relaxcheck onnx suite

  relaxcheck onnx suite 'test_resize_*' --fixes off

  relaxcheck onnx suite --tvm all --docs        # rewrites docs/onnx.md

  relaxcheck onnx suite --propose               # rows for failures that none expects

  relaxcheck onnx suite --tvm all --lower       # after a fix: fewer tests fail

{EXIT_CODES}"""

UNREAD = f"""In doubt a name counts as read. A listed name is no bug yet: some change nothing.
Every one is drawn by relaxcheck fuzz onnx.

Examples:

  relaxcheck onnx unread

  relaxcheck onnx unread --tvm 0.25

  relaxcheck onnx unread --format json | jq '.[].name'

{EXIT_CODES}"""

app = typer.Typer(add_completion=False)


@app.callback(epilog=EPILOG)
def onnx() -> None:
    """Look into TVM's importer of ONNX models."""


@app.command("suite", epilog=EPILOG)
def suite(
    tests: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEST]...", help="Only tests with such a name; * is a wildcard."),
    ] = None,
    tvm: ReleasesToRun = None,
    fixes: Annotated[
        Switch | None, typer.Option(help="Run with or without the fixes (default: both).")
    ] = None,
    initializers: Annotated[
        bool,
        typer.Option(
            "--initializers",
            help="Make integer inputs behind the first initializers, as exporters do. No failure "
            "is declared for that.",
        ),
    ] = False,
    form: Annotated[
        ResultFormat,
        typer.Option("--format", help="For a person, or the table and all results in JSON."),
    ] = ResultFormat.TEXT,
    docs: Annotated[
        bool, typer.Option("--docs", help="Write docs/onnx.md in this checkout as well.")
    ] = False,
    propose: Annotated[
        bool,
        typer.Option(
            "--propose",
            help="Print rows for failures that none expects, which lack a name and a reason.",
        ),
    ] = False,
    lower: Annotated[
        bool,
        typer.Option(
            "--lower",
            help="Lower the numbers of corpus/onnx-suite.json to those of the tests that still "
            "fail, and remove rows by which none does.",
        ),
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, max=MOST_WORKERS, help="Worker processes (default: one for each core)."
        ),
    ] = None,
) -> None:
    """Run the tests that the package onnx brings, and compare with ONNX's own outputs.

    Each model goes through from_onnx and relax.build; the outputs are those that ONNX states.
    Takes a core-minute for each release and side.
    """
    with one_line_errors():
        from relaxcheck.cli.actions.importers import onnx as action

        code = action.suite(
            tuple(tests or ()),
            tvm,
            fixes,
            form,
            initializers=initializers,
            docs=docs,
            propose=propose,
            lower=lower,
            workers=workers,
        )
    raise typer.Exit(code)


@app.command("unread", epilog=UNREAD)
def unread(
    tvm: Annotated[
        str | None, typer.Option(metavar="RELEASE", help="Read this TVM release, if installed.")
    ] = None,
    form: Annotated[
        ResultFormat, typer.Option("--format", help="For a person, or all rows in JSON.")
    ] = ResultFormat.TEXT,
) -> None:
    """List attributes and inputs that a schema has and TVM's converter for it never reads.

    Versions of schemas from opset 7 on. Reads the source of the importer, and imports no TVM: two
    seconds.
    """
    with one_line_errors():
        from relaxcheck.cli.actions.importers import unread as action

        action.unread(tvm, form)
