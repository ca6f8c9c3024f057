"""``relaxcheck conform``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from relaxcheck.cli.options import MOST, MOST_WORKERS, CaseSeconds, Release, Switch
from relaxcheck.cli.terminal import one_line_errors

EPILOG = """A pipeline is a function of yours, package:function, which takes a TVM target, or
nothing, and returns a tvm.ir.transform.Pass, as relax.build(relax_pipeline=…) takes it; or the name
of an entry point in the group relaxcheck.pipelines (see docs/extending.md). Its module is found on
Python's path or in the current folder.

Every case runs through TVM's pipeline and through yours, and each result is held against the same
oracles: a fault that both have is none of yours. The cases are a small grid of each operator, with
every value of every attribute, layout, dtype and symbolic dimension, and the corpus of known
faults. Causes are reduced, and the passes bisected, for the first dozen.

Results are kept in the folder of --out: after Ctrl-C, give the same command again. Yours
runs anew as soon as a source of its package changes.

Examples:

  relaxcheck conform --pipeline package:function

  relaxcheck conform --pipeline package:function --family softmax --family conv2d

  relaxcheck conform --pipeline package:function --max-cases 500 --tvm 0.26 --fixes on

Exit codes: 0 yours fails nowhere that TVM's does not; 1 it does; 2 bad input, the function cannot
be imported, or the workers cannot start; 3 a fault of relaxcheck itself; 130 interrupted."""

app = typer.Typer(add_completion=False)


@app.command(epilog=EPILOG)
def conform(
    pipeline: Annotated[
        str,
        typer.Option("--pipeline", metavar="NAME", help="Your pipeline, such as package:function."),
    ],
    against: Annotated[
        str,
        typer.Option(
            "--against",
            metavar="NAME",
            help="Compare with this pipeline: default-pipeline is "
            "relax.get_default_pipeline(target), build is relax.build's own.",
        ),
    ] = "default-pipeline",
    family: Annotated[
        list[str] | None,
        typer.Option(
            "--family",
            metavar="FAMILY",
            help="Only this family (see relaxcheck families); may be repeated.",
        ),
    ] = None,
    max_cases: Annotated[
        int | None,
        typer.Option(min=1, max=MOST, help="Only so many cases, of as many families as they can."),
    ] = None,
    fixes: Annotated[
        Switch, typer.Option(help="Run both with TVM's lowerings fixed, or as they are.")
    ] = Switch.OFF,
    tvm: Release = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="The folder of results (default: one in runs/, by the pipeline)."
        ),
    ] = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="Delete the results in that folder first.")
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_WORKERS, help="Worker processes (default: one a core)."),
    ] = None,
    case_seconds: CaseSeconds = 30,
) -> None:
    """Run the conformance suite through a pipeline of your own; show where it is worse than TVM's.

    A difference is printed by its cause, with the smallest case, the pass to blame, and the command
    that replays it.
    """
    with one_line_errors():
        from relaxcheck.cli.actions import conform as action

        raise typer.Exit(
            action.conform(
                action.Request(
                    pipeline=pipeline,
                    against=against,
                    families=family,
                    max_cases=max_cases,
                    fixes=fixes,
                    tvm=tvm,
                    out=out,
                    anew=anew,
                    workers=workers,
                    case_seconds=case_seconds,
                )
            )
        )
