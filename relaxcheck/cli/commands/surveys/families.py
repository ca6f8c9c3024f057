"""``relaxcheck families``."""

import typer

from relaxcheck.cli.exit_codes import EXIT_CODES
from relaxcheck.cli.terminal import one_line_errors

app = typer.Typer(add_completion=False)


@app.command(epilog=EXIT_CODES)
def families() -> None:
    """List the families of programs and their axes: everything that a campaign varies."""
    with one_line_errors():
        from relaxcheck.cli.actions import families as action

        action.families()
