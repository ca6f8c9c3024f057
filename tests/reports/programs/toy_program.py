"""A program to make scripts of, and the environment that they run in."""

import os
from pathlib import Path

from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.program import Case, Input, Node, Program

VERSIONS = {"apache-tvm": "0.27.0"}


def alone(tmp_path: Path) -> dict[str, str]:
    """The environment of a process that knows nothing of this project."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**kept, "HOME": str(tmp_path)}


PROGRAM = Program(
    (Input("x", (2,), "float32"), Input("y", (2,), "float32")),
    (Node("sum", "add", ("x", "y")),),
    ("sum",),
)


INVALID = Case("toy", PROGRAM, expect=Invalid("add", ("output_padding", "output padding")))
