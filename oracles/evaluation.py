"""What every operator of the reference has in common: its form, and the numerics it follows."""

from collections.abc import Callable, Sequence
from enum import Enum

from generators.program import Node
from oracles.answer import Unsupported, declare
from oracles.estimate import Estimate


class Numerics(Enum):
    """The dtypes that a pipeline computes in.

    ``OWN``: every operator in the program's dtypes. ``MIXED_FLOAT16``: the pipeline ran Relax's
    ToMixedPrecision with float32 as its output dtype. It narrows float32 operands of transposed
    convolutions, matmul and attention to float16; convolution and matmul then accumulate in
    float32, attention is computed in float16, and their results may be kept in float16. The other
    operators follow: they run in float16 where all their operands are float16 or constants.
    """

    OWN = "own"
    MIXED_FLOAT16 = "mixed-float16"


Operator = Callable[[Node, list[Estimate], Numerics], Estimate]

Plain = Callable[[Node, list[Estimate]], Estimate]
"""An operator that knows the program's own dtypes only."""


def own_numerics(function: Plain) -> Operator:
    """``function`` as an operator, which declines pipelines with numerics of their own."""

    def evaluated(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
        if numerics is not Numerics.OWN:
            raise Unsupported(f"reference: {node.operator} in mixed precision")
        return function(node, operands)

    return evaluated


def declare_plain(table: dict[str, Operator]) -> Callable[[str], Callable[[Plain], Plain]]:
    """As ``answer.declare``, for functions that know the program's own dtypes only."""
    enter = declare(table)

    def operator(name: str) -> Callable[[Plain], Plain]:
        def entered(function: Plain) -> Plain:
            enter(name)(own_numerics(function))
            return function

        return entered

    return operator


def same_dtype(node: Node, operands: Sequence[Estimate]) -> str:
    """The dtype that all ``operands`` have. Raises ``ValueError`` where they differ."""
    dtype = operands[0].dtype
    if any(each.dtype != dtype for each in operands):
        raise ValueError(f"{node.operator}: operand dtypes differ")
    return dtype
