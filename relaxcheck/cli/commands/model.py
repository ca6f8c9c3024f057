"""``relaxcheck model``: its options."""

import enum
from pathlib import Path
from typing import Annotated

import typer

from relaxcheck.cli.options import MOST, MOST_SECONDS, ReleasesToRun, ResultFormat, number
from relaxcheck.cli.terminal import one_line_errors
from relaxcheck.harness.campaign.fixes import Fixes

EPILOG = """MODEL is an ONNX model (.onnx), a program that torch.export.save wrote (.pt2), or
package.module:make, a function without arguments that returns (module, inputs) or (module, inputs,
dynamic_shapes), the inputs a tuple.

A result is right if it is as near to float64 as the framework's own is, up to a factor that right
models stay far below. Where it is wrong, TVM runs every node of the framework's graph on the
framework's own operands, in one program: the wrong nodes are named, and for each whether the
importer or the compiler is to blame.

Examples:

  relaxcheck model model.onnx

  relaxcheck model exported.pt2 --inputs data.npz

  relaxcheck model package.module:make --dim batch=1,2,7

  relaxcheck model model.onnx --fixes both --tvm all     # what the fixes, and releases, change

  relaxcheck model model.onnx --format json | jq .reports[0].wrong

Exit codes: 0 the model is right (with --fixes both: with the fixes); 1 a fault of TVM; 2 bad input:
no such model, or its own framework cannot run it; 3 a fault of relaxcheck itself; 130 interrupted,
with what is known until then."""

app = typer.Typer(add_completion=False)


class PipelineName(enum.StrEnum):
    """The pipelines that take any module."""

    DEFAULT = "default-pipeline"
    BUILD = "build"


@app.command(epilog=EPILOG)
def model(
    name: Annotated[str, typer.Argument(metavar="MODEL", help="A model; see below.")],
    inputs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.npz",
            help="Run on these inputs as well: an array for each, by name or in order.",
        ),
    ] = None,
    dim: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=SIZES",
            help="Sizes of a symbolic dimension, as in batch=1,2,7 (default: the model's own, 1, "
            "2 and 7); may be repeated.",
        ),
    ] = None,
    fixes: Annotated[Fixes, typer.Option(help="Run with or without the fixes, or both.")] = (
        Fixes.OFF
    ),
    tvm: ReleasesToRun = None,
    pipeline: Annotated[
        PipelineName,
        typer.Option(help="relax.get_default_pipeline(target), which fuses, or relax.build's own."),
    ] = PipelineName.DEFAULT,
    target: Annotated[
        str, typer.Option(help="TVM's target, as in 'llvm -mcpu=haswell', or options in JSON.")
    ] = "llvm",
    seed: Annotated[
        int, typer.Option(min=0, max=MOST, help="Seed of the inputs that are drawn.")
    ] = 0,
    nodes: Annotated[
        bool,
        typer.Option("--nodes", help="Run every node on its own, even if the model is right."),
    ] = False,
    seconds: Annotated[
        float,
        typer.Option(
            min=0.1,
            max=MOST_SECONDS,
            callback=number,
            metavar="SECONDS",
            help="Deadline of the check on each release and side.",
        ),
    ] = 600,
    form: Annotated[
        ResultFormat, typer.Option("--format", help="text, or json: one object and nothing else.")
    ] = ResultFormat.TEXT,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the report there as well, and what shows a fault: a script, an issue.",
        ),
    ] = None,
) -> None:
    """Find out whether TVM computes a model rightly, and which node of it is wrong.

    Imports, compiles and runs the model at several sizes and on several inputs, and compares with
    PyTorch or ONNX Runtime.
    """
    with one_line_errors():
        from relaxcheck.cli.actions import model as action

        code = action.model(
            action.Wanted(
                name, inputs, tuple(dim or ()), fixes, tvm, pipeline, target, seed, seconds, nodes
            ),
            form,
            out,
        )
    raise typer.Exit(code)
