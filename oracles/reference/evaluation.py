"""The form of the reference's operators, their registry, and the numerics they follow."""

from collections.abc import Callable, Sequence
from enum import Enum
from functools import wraps

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.limitations import limiting
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.registry import declare


class Numerics(Enum):
    """The dtypes that a pipeline computes in.

    ``OWN``: every operator in the program's dtypes. ``MIXED_FLOAT16``: the pipeline ran Relax's
    ToMixedPrecision with float32 as its output dtype. It narrows float32 operands of convolution,
    transposed convolution, matmul and attention to float16; the first three accumulate in float32,
    attention is computed in float16, and their results may be kept in float16. The other operators
    follow: they run in float16 only where all their operands are float16 or constants.
    """

    OWN = "own"
    MIXED_FLOAT16 = "mixed-float16"


limit = limiting("reference")

Operator = Callable[[Node, list[Estimate], Numerics], Estimate]

Plain = Callable[[Node, list[Estimate]], Estimate]
"""An operator that knows the program's own dtypes only."""


OPERATORS: dict[str, Operator] = {}
"""The reference's operators by Relax name; modules of ``operators`` declare them."""

operator_with_numerics = declare(OPERATORS)
"""Declare an operator that follows mixed precision too."""


def operator(name: str) -> Callable[[Plain], Plain]:
    """Declare an operator that mixed precision leaves in its operands' dtypes.

    It raises ``Unsupported`` where all its float32 operands may be in float16: then a pipeline may
    run it in float16 too.
    """

    def enter(function: Plain) -> Plain:
        @wraps(function)
        def evaluated(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
            if numerics is not Numerics.OWN:
                single = [each.half for each in operands if each.dtype == "float32"]
                if single and all(single):
                    raise Unsupported(f"reference: {node.operator} in mixed precision")
            return function(node, operands)

        operator_with_numerics(name)(evaluated)
        return function

    return enter


def same_dtype(node: Node, operands: Sequence[Estimate]) -> str:
    """The dtype that all ``operands`` have. Raises ``ValueError`` where they differ."""
    dtype = operands[0].dtype
    if any(each.dtype != dtype for each in operands):
        raise ValueError(f"{node.operator}: operand dtypes differ")
    return dtype
