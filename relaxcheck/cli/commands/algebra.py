"""``relaxcheck algebra``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from relaxcheck.cli.exit_codes import EXIT_CODES
from relaxcheck.cli.options import CaseSeconds, Workers
from relaxcheck.cli.terminal import one_line_errors

FACTS_EPILOG = f"""Examples:

  relaxcheck algebra facts

  relaxcheck algebra facts --tvm 0.27 --out -

The facts are in corpus/algebra/facts.json. Only the part of the page between its two markers is
rewritten.

{EXIT_CODES}"""

KERNELS_EPILOG = f"""Examples:

  relaxcheck algebra kernels runs/FOLDER

  relaxcheck algebra kernels runs/FOLDER --tvm 0.26 --out kernels

  relaxcheck export kernels/ID.json

A wrong answer of the analyzer need not reach a kernel. Each smallest expression is compiled in
every position that an expression can have, with its own ranges and with wider ones; failures run
again in a fresh process, and may have another cause than the analyzer. "right": compiled, and
computes the right value; "-": does not fit there.

{EXIT_CODES}"""

CAUSES_EPILOG = f"""Examples:

  relaxcheck algebra causes runs/FOLDER

  relaxcheck algebra causes runs/FOLDER --compile --out causes.md

  relaxcheck algebra causes runs/FOLDER --cases smallest && relaxcheck matrix smallest --out .

One fault of the analyzer fails several checks, in many kinds of expressions. Findings are grouped
by the form of their smallest cases. The last group, of no known form, is the one to read first.

{EXIT_CODES}"""

_Campaign = Annotated[Path, typer.Argument(metavar="CAMPAIGN", help="A campaign's folder.")]
_CompiledOn = Annotated[
    str | None,
    typer.Option(
        metavar="RELEASE",
        help="Compile with this TVM release (default: the newest that the campaign ran on).",
    ),
]

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.callback(epilog=EXIT_CODES)
def algebra() -> None:
    """Look into what TVM's analyzer says about integer expressions."""


@app.command("facts", epilog=FACTS_EPILOG)
def facts(
    tvm: Annotated[
        list[str] | None,
        typer.Option(metavar="RELEASE", help="Only this release; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the page here, - for standard output (default: docs/algebra.md if all "
            "releases are asked; else standard output).",
        ),
    ] = None,
) -> None:
    """Ask every installed release, and SymPy, about documented facts; write the page."""
    with one_line_errors():
        from relaxcheck.cli.actions.algebra import facts as action

        action.facts(tvm, out)


@app.command("kernels", epilog=KERNELS_EPILOG)
def kernels(
    campaign: _Campaign,
    tvm: _CompiledOn = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write a case file for each kernel that fails."),
    ] = None,
    workers: Workers = None,
    case_seconds: CaseSeconds = 60,
) -> None:
    """Compile a campaign's findings about the analyzer: which of them make a kernel wrong?"""
    with one_line_errors():
        from relaxcheck.cli.actions.algebra import kernels as action

        code = action.kernels(campaign, tvm, out, workers=workers, case_seconds=case_seconds)
    raise typer.Exit(code)


@app.command("causes", epilog=CAUSES_EPILOG)
def causes(
    campaign: _Campaign,
    compile_: Annotated[
        bool,
        typer.Option(
            "--compile",
            help="Also compile each smallest expression, like relaxcheck algebra kernels.",
        ),
    ] = False,
    tvm: _CompiledOn = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the causes and their findings as Markdown."),
    ] = None,
    cases: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the smallest case of each cause, for relaxcheck matrix DIR.",
        ),
    ] = None,
    workers: Workers = None,
    case_seconds: CaseSeconds = 60,
) -> None:
    """Group a campaign's findings about the analyzer by cause."""
    with one_line_errors():
        from relaxcheck.cli.actions.algebra import causes as action

        code = action.causes(
            campaign,
            tvm,
            out,
            cases,
            compiling=compile_,
            workers=workers,
            case_seconds=case_seconds,
        )
    raise typer.Exit(code)
