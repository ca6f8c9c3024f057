"""``relaxcheck algebra``: what TVM's analyzer makes of the arithmetic of shapes."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from generators.program import CaseError
from harness import shape_facts as asking
from harness.cli import causes, kernels
from harness.cli.terminal import EXIT_CODES, one_line_errors
from harness.releases import CHECKOUT, by_age, known, release, state
from reports import algebra_facts

PAGE = CHECKOUT / "docs" / "algebra.md"

EPILOG = f"""Examples:

  relaxcheck algebra facts

  relaxcheck algebra facts --tvm 0.27 --out -

The facts are those of corpus/algebra/facts.json. The page is written anew between its two comments
that say so; what stands around them is left as it is.

{EXIT_CODES}"""

app = typer.Typer(help="The arithmetic of shapes, as TVM's analyzer has it.", no_args_is_help=True)


@app.callback(epilog=EPILOG)
def algebra() -> None:
    """The arithmetic of shapes, as TVM's analyzer has it."""


@app.command("facts", epilog=EPILOG)
def facts(
    tvm: Annotated[
        list[str] | None,
        typer.Option(metavar="RELEASE", help="Only this release; may be given again."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The page that is written, - for standard output (default: docs/algebra.md where "
            "all releases are asked, standard output otherwise)."
        ),
    ] = None,
) -> None:
    """Ask every installed release about documented facts, and SymPy, and write the page."""
    with one_line_errors():
        found = asking.read()
        names = by_age(tvm or [name for name in known() if state(name).usable])
        answers = [asking.answered(release(name)) for name in names]
        page = algebra_facts.markdown(found, answers, asking.by_sympy(found))
        if out is None and not tvm and len(names) == len(known()):
            out = PAGE
        if out is None or str(out) == "-":
            sys.stdout.write(page)
            return
        try:
            out.write_text(algebra_facts.within(out.read_text() if out.exists() else "", page))
        except OSError as error:
            raise CaseError(f"cannot write to {out}: {error.strerror}") from error


app.command("kernels", epilog=kernels.EPILOG)(kernels.kernels)
app.command("causes", epilog=causes.EPILOG)(causes.causes)
