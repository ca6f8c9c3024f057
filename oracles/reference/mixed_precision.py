"""ToMixedPrecision's policies on estimates: which operands and results may be in float16."""

from collections.abc import Callable
from dataclasses import replace

from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate
from relaxcheck.oracles.reference.evaluation import Numerics


def narrowed(operand: Estimate) -> Estimate:
    """A float32 operand where it may have been rounded to float16; others as they are."""
    if operand.dtype != "float32":
        return operand
    return bounds.rounded(operand, FORMATS["float16"], settled=False)


def always_narrowed(operands: list[Estimate], numerics: Numerics) -> list[Estimate]:
    """Operands of an operator that mixed precision always narrows."""
    return operands if numerics is Numerics.OWN else [narrowed(each) for each in operands]


def stored(result: Estimate, numerics: Numerics) -> Estimate:
    """The result of such an operator, which may be kept in float16."""
    if numerics is Numerics.OWN or result.dtype != "float32":
        return result
    return replace(narrowed(result), half=True)


def following(
    operands: list[Estimate], numerics: Numerics, compute: Callable[[list[Estimate]], Estimate]
) -> Estimate:
    """``compute(operands)``, in float16 as well where mixed precision would have it so."""
    half = all(each.half for each in operands)
    if numerics is Numerics.OWN or not half or operands[0].dtype != "float32":
        return compute(operands)
    return replace(narrowed(compute([narrowed(each) for each in operands])), half=True)
