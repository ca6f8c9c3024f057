"""Plants in passes of Relax: each damages what the pass returns."""

from collections.abc import Iterator

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import Plant, one_edit

_MODULE = "tvm.relax.transform.transform"
_BROKEN = (Verdict.BROKEN_MODULE,)
_WRONG = (Verdict.WRONG_VALUE,)


def _damaged(
    name: str, description: str, verdicts: tuple[Verdict, ...], call: str, damage: str
) -> Plant:
    """The pass that ``call`` makes, its result damaged by the function ``damage``."""
    made = f"_ffi_api.{call}"
    wrapped = '__import__("tests.measure.quality.planted.pass_damage", fromlist=["damaged"])'
    return one_edit(
        name,
        description,
        verdicts,
        ("pipeline",),
        _MODULE,
        f"    return {made}  # type: ignore\n",
        f"    damage = {wrapped}\n    return damage.damaged({made}, damage.{damage})\n",
        (f"pass-{call.partition('(')[0]}",),
    )


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
            yield _damaged(name, f"{description} by {call.partition('(')[0]}", _WRONG, call, damage)


PLANTS = (
    _damaged(
        "canonical-drops-casts",
        "a cast to a smaller dtype and back is dropped as if it changed nothing",
        _WRONG,
        "CanonicalizeBindings()",
        "without_casts",
    ),
    _damaged(
        "common-subexpression-of-swapped-operands",
        "the key of a subtraction has its operands in any order",
        _WRONG,
        "EliminateCommonSubexpr(call_only)",
        "with_swapped_operands",
    ),
    _damaged(
        "folding-merges-constants",
        "constants of one shape and dtype are taken for one",
        _WRONG,
        "FoldConstant()",
        "with_merged_constants",
    ),
    _damaged(
        "planner-aliases-live-buffers",
        "two live tensors of one size share a storage",
        _WRONG,
        "StaticPlanBlockMemory()",
        "with_aliased_storage",
    ),
    _damaged(
        "fusion-forgets-attributes",
        "the functions lose their attributes when calls are grouped",
        _BROKEN,
        "FuseOps(fuse_opt_level)",
        "without_attributes",
    ),
    _damaged(
        "dead-code-counted",
        "each application leaves its mark in the module",
        _BROKEN,
        "DeadCodeElimination(entry_functions)",
        "with_a_count",
    ),
    *_rewriting(),
)
