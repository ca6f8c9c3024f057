"""``relaxcheck releases``: its options."""

from typing import Annotated

import typer

from relaxcheck.cli.exit_codes import EXIT_CODES
from relaxcheck.cli.terminal import one_line_errors

EPILOG = f"""Each release is an environment of about 2 GB, in .releases of a checkout, in the user's
cache where relaxcheck is installed, or in the folder that $RELAXCHECK_RELEASES names.

{EXIT_CODES}"""

app = typer.Typer(add_completion=False)


@app.callback(invoke_without_command=True, epilog=EPILOG)
def releases(context: typer.Context) -> None:
    """List the supported TVM releases, or install them side by side (install)."""
    if context.invoked_subcommand is None:
        with one_line_errors():
            from relaxcheck.cli.actions import releases as action

            action.show()


@app.command("install", epilog=EPILOG)
def install(
    release: Annotated[
        list[str] | None,
        typer.Argument(metavar="RELEASE", help="Releases (default: all that are missing)."),
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
        from relaxcheck.cli.actions import releases as action

        action.install(release, pip_args)
