"""Plants in passes of Relax: each damages what the pass returns."""

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
)
