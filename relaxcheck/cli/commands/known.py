"""``relaxcheck known``: its options."""

from typing import Annotated

import typer

from relaxcheck.cli.exit_codes import EXIT_CODES
from relaxcheck.cli.options import CampaignFolder, CaseSeconds
from relaxcheck.cli.terminal import one_line_errors

EPILOG = f"""Campaigns, the conformance suite, the matrix and replay expect these failures: only
others give exit code 1. Once one passes, they report it as fixed; after its date it is not expected
any more. The file is corpus/known.json in a checkout, and relaxcheck-known.json in the current
folder where relaxcheck is installed.

Examples:

  relaxcheck known add 3f2a9c1b --issue https://github.com/apache/tvm/issues/1 --expires 2027-06-30

  relaxcheck known add runs/conformance/CASE.json --expires 2027-06-30 --reason 'needs C++'

  relaxcheck replay corpus/known.json      # do they still fail?

  relaxcheck known remove NAME

{EXIT_CODES}"""

app = typer.Typer(add_completion=False)


@app.callback(invoke_without_command=True, epilog=EPILOG)
def known(context: typer.Context) -> None:
    """List the failures that are expected, or change them (add, remove)."""
    if context.invoked_subcommand is None:
        list_known()


@app.command("list", epilog=EPILOG)
def list_known() -> None:
    """List the failures that are expected."""
    with one_line_errors():
        from relaxcheck.cli.actions import known as action

        action.show()


@app.command("add", epilog=EPILOG)
def add(
    case: Annotated[
        str,
        typer.Argument(
            metavar="CASE",
            help="A finding, or its case, by id; or a case file or a corpus entry, which runs.",
        ),
    ],
    expires: Annotated[
        str, typer.Option(metavar="DATE", help="Expected until this day: 2027-06-30.")
    ],
    issue: Annotated[str | None, typer.Option(metavar="URL", help="The upstream issue.")] = None,
    reason: Annotated[str, typer.Option(help="Why it stays for now.")] = "",
    name: Annotated[
        str | None, typer.Option(help="Its name (default: from operator, verdict and cause).")
    ] = None,
    directory: CampaignFolder = None,
    case_seconds: CaseSeconds = 60,
) -> None:
    """Expect a failure, on the TVM release that it was found with.

    A case that is no finding of a campaign runs first, to find its cause.
    """
    with one_line_errors():
        from relaxcheck.cli.actions import known as action

        action.add(
            case,
            directory,
            expires=expires,
            issue=issue,
            reason=reason,
            name=name,
            case_seconds=case_seconds,
        )


@app.command("remove", epilog=EPILOG)
def remove(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME", help="As known list shows it, or an id.")
    ],
) -> None:
    """Expect these failures no longer: they are new wherever they occur."""
    with one_line_errors():
        from relaxcheck.cli.actions import known as action

        action.remove(names)
