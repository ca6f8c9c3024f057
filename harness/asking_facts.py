"""TVM's analyzer asked about a documented fact."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from fixes import tvm_api_shapes
from fixes.tvm_api import PrimExpr
from generators import algebra_emission
from harness.shape_facts import Fact


def emitted(fact: Fact) -> tuple[PrimExpr, tuple[PrimExpr, ...]]:
    """The claim, and what is given, as TVM's expressions."""
    claim, given = fact.expressions()
    scope = algebra_emission.scope(fact.variables())
    return (
        algebra_emission.emitted(claim, scope),
        tuple(algebra_emission.emitted(one, scope) for one in given),
    )


def by_analyzer(condition: PrimExpr, given: Sequence[PrimExpr]) -> tuple[bool, bool, bool]:
    """Whether it proves the claim as a condition, by the equality of its sides, at its strongest.

    Its variables are bound to be 0 or more, and what is given is a constraint.
    """

    def ask(question: Any) -> bool:
        analyzer = tvm_api_shapes.sizes_analyzer([condition, *given])
        with ExitStack() as scopes:
            for one in given:
                scopes.enter_context(analyzer.constraint_scope(one))
            return bool(question(analyzer))

    equality = type(condition).__name__ == "EQ"
    return (
        ask(lambda analyzer: analyzer.can_prove(condition)),
        equality and ask(lambda analyzer: analyzer.can_prove_equal(condition.a, condition.b)),
        ask(lambda analyzer: tvm_api_shapes.proves_at_its_strongest(analyzer, condition)),
    )
