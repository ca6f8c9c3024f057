"""Operators as PyTorch source text, for a script that stands alone.

Each module of ``operators`` declares the texts of its operators beside the functions that evaluate
them. A text may use PyTorch as ``torch`` and ``torch.nn.functional`` as ``F``. It computes what
``MEANINGS.md`` says, on tensors in float64 (floats) or int64 (integers), whatever the program's
dtypes. Shapes are those of one binding, so sizes are numbers.

Importing this module does not import PyTorch; the first text asked for does.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from relaxcheck.generators.core.program import GRADIENT, Node, Program
from relaxcheck.oracles.registry import declare, discover

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """A variable of the script: its name, its shape and TVM's name of its dtype."""

    name: str
    shape: Shape
    dtype: str


Source = Callable[[Node, Sequence[Value], Value], list[str]]
"""Lines that assign the result, given the node, its operands and the result's variable."""

SOURCES: dict[str, Source] = {}


class NoText(Exception):
    """A call that has no short text."""


source = declare(SOURCES)
"""Declare the text of an operator."""


def reference_source(
    program: Program,
    names: Mapping[str, str],
    shapes: Mapping[str, Shape],
    dtypes: Mapping[str, str],
) -> list[str] | None:
    """Lines that compute every node of ``program``; None where some call has no text.

    ``names`` maps the program's inputs and nodes to the script's variables; ``shapes`` and
    ``dtypes`` have an entry for each. Inputs are tensors in float64 or int64. Of a gradient, the
    input must require it.
    """
    discover("relaxcheck.oracles.pytorch.operators")
    values = {name: Value(names[name], shapes[name], dtypes[name]) for name in names}
    lines: list[str] = []
    for node in program.nodes:
        if node.operator == GRADIENT:
            target, variable = (names[name] for name in node.arguments)
            lines.append(f"{names[node.name]} = torch.autograd.grad({target}, {variable})[0]")
            continue
        if node.operator not in SOURCES:
            return None
        operands = [values[name] for name in node.arguments]
        try:
            lines += SOURCES[node.operator](node, operands, values[node.name])
        except NoText:
            return None
    return lines


_NARROWING = {"float16": ".half().double()", "bfloat16": ".bfloat16().double()"}


def cast_text(value: Value, dtype: str) -> str:
    """The text of ``value`` rounded or wrapped to ``dtype``, still in float64 or int64."""
    if dtype == value.dtype:
        return value.name
    if "int" in dtype:
        # A value that fits need not be wrapped.
        fits = np.can_cast(value.dtype, dtype)
        return value.name if fits else f"{value.name}.to(torch.{dtype}).long()"
    if "int" in value.dtype:
        return f"{value.name}.double()"
    if dtype == "float32" and value.dtype == "float64":
        return f"{value.name}.float().double()"
    return value.name + _NARROWING.get(dtype, "")


def call_text(function: str, *arguments: str, **options: object) -> str:
    """The text of a call; ``options`` that are None are omitted."""
    named = [f"{name}={value}" for name, value in options.items() if value is not None]
    return f"{function}({', '.join([*arguments, *named])})"


def assigned(result: Value, expression: str) -> list[str]:
    """The line that assigns ``expression`` to ``result``."""
    return [f"{result.name} = {expression}"]


def expression(write: Callable[..., str]) -> Source:
    """The source of an operator that is one expression of its operands' names."""

    def written(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
        return assigned(result, write(*(each.name for each in operands)))

    return written
