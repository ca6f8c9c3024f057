"""Analyzers with a planted fault each; all else in them is right by construction."""

from collections.abc import Sequence

from tvm.error import InternalError

from relaxcheck.generators.expressions.language import Expression, Variable
from tests.harness.expressions.exact_session import ExactSession


def rewritten(tree: Expression, old: str, new: str) -> Expression:
    """``tree`` with another operator everywhere."""
    operands = tuple(rewritten(operand, old, new) for operand in tree.operands)
    operator = new if tree.operator == old else tree.operator
    return Expression(operator, tree.dtype, operands, tree.leaf)


class TruncatesFloors(ExactSession):
    def rewritten(self, how: str, handle: Expression) -> Expression:
        return rewritten(handle, "//", "truncdiv") if how == "canonical_simplify" else handle


class ProvesTooMuch(ExactSession):
    """Takes a bound to be one better than it is."""

    def proves(self, claim: Expression, strong: bool) -> bool:
        if claim.operator == ">=" and not strong and claim.operands[1].operator == "const":
            low = self.bounds(claim.operands[0])[0]
            return low is not None and low + 1 >= int(claim.operands[1].leaf)
        return super().proves(claim, strong)


class ProvesTooMuchStrongly(ExactSession):
    def proves(self, claim: Expression, strong: bool) -> bool:
        return strong or super().proves(claim, strong)


class KeepsFirstRange(ExactSession):
    def rebind(self, variables: Sequence[Variable]) -> None:
        pass


class Raises(ExactSession):
    def modular(self, handle: Expression) -> tuple[int, int]:
        if handle.operator == "truncmod":
            raise InternalError("no rule for it")
        return super().modular(handle)
