"""Plants in passes of Relax: each damages the calls in whatever the pass returns."""

from collections.abc import Iterator

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.passes.plants import damaged
from tests.measure.quality.planted.plant import Plant

_REWRITES = {
    "drops-activations": ("a rectifier is dropped", "without_activation"),
    "forgets-axes": ("a softmax forgets its axis", "with_last_axis"),
    "takes-first-operands": ("a maximum is its first operand", "with_first_operand"),
    "joins-backwards": ("tensors are joined from behind", "with_reversed_parts"),
    "drops-constants": ("a sum is without its constant", "without_constants"),
}
"""Bad rewrites by name: what they do, and the damage."""

_CALLS = (
    "CanonicalizeBindings()",
    "EliminateCommonSubexpr(call_only)",
    "DeadCodeElimination(entry_functions)",
    "TopologicalSort(order, direction)",
    "ToNonDataflow()",
    "Normalize()",
    "AdjustMatmulOrder()",
    "ExpandMatmulOfSum()",
)
"""The passes over operators that have three bad rewrites each, as TVM makes them."""


def _rewriting() -> Iterator[Plant]:
    kinds = [*_REWRITES] * 2
    for at, call in enumerate(_CALLS):
        for kind in kinds[at % len(_REWRITES) :][:3]:
            description, damage = _REWRITES[kind]
            name = f"{call.partition('(')[0].lower()}-{kind}"
            words = f"{description} by {call.partition('(')[0]}"
            verdicts, wrong = (Verdict.WRONG_VALUE,), f"operators.{damage}"
            yield damaged(name, words, verdicts, call, wrong, blame=("pipeline",))


PLANTS = tuple(_rewriting())
