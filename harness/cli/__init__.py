"""The command line: a module for each command, ``relaxcheck fuzz`` in ``fuzz`` and so on."""

import typer

from harness.cli import (
    algebra,
    bisect,
    claims,
    export,
    families,
    fixes,
    fuzz,
    known,
    matrix,
    merge,
    reduce,
    releases,
    replay,
)
from harness.cli import report as report_command
from harness.cli.terminal import EXIT_CODES

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Differential fuzzing and conformance testing of Apache TVM Relax on CPU.",
    epilog=EXIT_CODES,
)
app.command(epilog=fuzz.EPILOG)(fuzz.fuzz)
app.command(epilog=replay.EPILOG)(replay.replay)
app.command(epilog=reduce.EPILOG)(reduce.reduce)
app.command(epilog=bisect.EPILOG)(bisect.bisect)
app.command(epilog=export.EPILOG)(export.export)
app.command(epilog=merge.EPILOG)(merge.merge)
app.command(epilog=matrix.EPILOG)(matrix.matrix)
app.command(epilog=claims.EPILOG)(claims.claims)
app.command(epilog=report_command.EPILOG)(report_command.report)
app.command(epilog=EXIT_CODES)(families.families)
app.add_typer(releases.app, name="releases")
app.add_typer(known.app, name="known")
app.add_typer(fixes.app, name="fixes")
app.add_typer(algebra.app, name="algebra")
