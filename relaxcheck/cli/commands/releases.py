"""``relaxcheck releases``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from relaxcheck.cli.exit_codes import EXIT_CODES
from relaxcheck.cli.options import ResultFormat
from relaxcheck.cli.terminal import one_line_errors

EPILOG = f"""Each release is an environment of about 2 GB, in .releases of a checkout, in the user's
cache where relaxcheck is installed, or in the folder that $RELAXCHECK_RELEASES names. tirx is TIRx
alone, without Relax (0.3 GB): its analyzer is asked by relaxcheck fuzz algebra --tvm tirx.

{EXIT_CODES}"""

ADD_EPILOG = f"""Examples:

  relaxcheck releases add mine --pythonpath ~/tvm

  relaxcheck releases add mine --python ~/tvm-venv/bin/python

  relaxcheck releases add night --wheel apache_tvm-0.28.dev0-py3-none-manylinux.whl

  relaxcheck fuzz --tvm 0.27,mine --minutes 5

Declared failures of a build are those of the release of its version, else of the newest release
before it. Exit codes: 0 its workers start; 1 it is added, but they do not: relaxcheck releases
doctor NAME says why.

{EXIT_CODES}"""

DOCTOR_EPILOG = f"""The names are read from relaxcheck's own sources: modules, functions, calls,
members of classes, passes, operators, global functions. They are compared with this
environment's TVM, with which all of them work. A name of which relaxcheck has another spelling is
missing only if neither is there.

Examples:

  relaxcheck releases doctor mine

  relaxcheck releases doctor mine --format json

Exit codes: 0 nothing is missing or changed; 1 something is; 2 the build cannot be asked.

{EXIT_CODES}"""

app = typer.Typer(add_completion=False)


@app.callback(invoke_without_command=True, epilog=EPILOG)
def releases(context: typer.Context) -> None:
    """List TVM releases and builds, install releases side by side, and add builds of your own."""
    if context.invoked_subcommand is None:
        list_releases()


@app.command("list", epilog=EPILOG)
def list_releases() -> None:
    """List the supported TVM releases and your builds: state, version, place."""
    with one_line_errors():
        from relaxcheck.cli.actions.releases import managing as action

        action.show()


@app.command("install", epilog=EPILOG)
def install(
    release: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RELEASE", help="Releases, or tirx (default: all releases that are missing)."
        ),
    ] = None,
    pip_args: Annotated[
        str,
        typer.Option(
            metavar="'ARGS…'",
            help="Further arguments for pip, e.g. '--extra-index-url URL' with PyTorch's index of "
            "CPU wheels, or '--no-index --find-links FOLDER'.",
        ),
    ] = "",
) -> None:
    """Install releases, each in its own environment. Interrupted, it continues where it stopped."""
    with one_line_errors():
        from relaxcheck.cli.actions.releases import managing as action

        action.install(release, pip_args)


@app.command("add", epilog=ADD_EPILOG)
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What --tvm shall call it.")],
    python: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="The interpreter of an environment, or the environment (default: the one that "
            "runs relaxcheck, with its packages).",
        ),
    ] = None,
    pythonpath: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR",
            help="A folder with the package tvm, or the root of TVM's sources; may be repeated.",
        ),
    ] = None,
    library_path: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder of its libraries, as TVM_LIBRARY_PATH."),
    ] = None,
    wheel: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A wheel of TVM, which is unpacked; a nightly, say."),
    ] = None,
) -> None:
    """Add a TVM build of your own: a source build, an environment, or a wheel.

    Nothing is installed into an existing environment.
    """
    with one_line_errors():
        from relaxcheck.cli.actions.releases import managing as action

        code = action.add(name, python, pythonpath or (), library_path, wheel)
    raise typer.Exit(code)


@app.command("remove", epilog=EPILOG)
def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A build that was added.")],
) -> None:
    """Remove a build that was added. Your own files stay."""
    with one_line_errors():
        from relaxcheck.cli.actions.releases import managing as action

        action.remove(name)


@app.command("doctor", epilog=DOCTOR_EPILOG)
def doctor(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A release, or a build that was added.")
    ],
    form: Annotated[
        ResultFormat, typer.Option("--format", help="text, or json: one object and nothing else.")
    ] = ResultFormat.TEXT,
) -> None:
    """Say which of the names of TVM that relaxcheck uses are missing, moved or changed there.

    Each with what stops working: commands, kinds of cases, fixes.
    """
    with one_line_errors():
        from relaxcheck.cli.actions.releases import doctor as action

        code = action.doctor(name, form)
    raise typer.Exit(code)
