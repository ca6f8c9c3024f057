"""Plants in passes of Relax: ten passes with three each, whose results are damaged.

The damage is what a wrong rewrite in that pass would do.
"""

from relaxcheck.generators.passes.family import PREFIX
from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import Plant, one_edit

_MODULE = "tvm.relax.transform.transform"
_DAMAGE = "tests.measure.quality.passes.damage"

_BROKEN = (Verdict.BROKEN_MODULE,)
_VALUE = (Verdict.WRONG_VALUE,)
_CRASH = (Verdict.OPAQUE_CRASH,)


def damaged(
    name: str,
    description: str,
    verdicts: tuple[Verdict, ...],
    call: str,
    damage: str,
    *,
    blame: tuple[str, ...] = (),
) -> Plant:
    """The pass that ``call`` makes, its result damaged by ``damage``, ``MODULE.FUNCTION``."""
    made = f"_ffi_api.{call}"
    module, _, function = damage.partition(".")
    rewriting, wrong = (
        f'__import__("{_DAMAGE}.{each}", fromlist=["{each}"])' for each in ("rewriting", module)
    )
    return one_edit(
        name,
        description,
        verdicts,
        blame,
        _MODULE,
        f"    return {made}  # type: ignore\n",
        f"    return {rewriting}.damaged({made}, {wrong}.{function})\n",
        (PREFIX + call.partition("(")[0],),
    )


def pass_of(plant: Plant) -> str:
    """The pass that ``plant`` is in."""
    return plant.operators[0].removeprefix(PREFIX)


_CANONICAL = "CanonicalizeBindings()"
_COMMON = "EliminateCommonSubexpr(call_only)"
_DEAD = "DeadCodeElimination(entry_functions)"
_FOLD = "FoldConstant()"
_GROUP = "FuseOps(fuse_opt_level)"
_FUSE = "FuseTIR()"
_ALLOCATE = "CallTIRRewrite()"
_PLAN = "StaticPlanBlockMemory()"
_KILL = "KillAfterLastUse()"
_SIZES = "VMShapeLower(emit_err_ctx)"

PLANTS = (
    damaged(
        "canonical-drops-casts",
        "a cast to a smaller dtype and back is dropped as if it changed nothing",
        _VALUE,
        _CANONICAL,
        "operators.without_casts",
    ),
    damaged(
        "canonical-drops-match-casts",
        "a match_cast that says more than its operand's type is dropped",
        (*_BROKEN, *_CRASH, Verdict.WRONG_SHAPE),
        _CANONICAL,
        "operators.without_match_casts",
    ),
    damaged(
        "canonical-takes-first-items",
        "each item of a tuple made of equal types is replaced by the first",
        _VALUE,
        _CANONICAL,
        "operators.with_first_items",
    ),
    damaged(
        "common-subexpression-of-swapped-operands",
        "the key of a subtraction has its operands in any order",
        _VALUE,
        _COMMON,
        "operators.with_swapped_operands",
    ),
    damaged(
        "common-subexpression-without-attributes",
        "the key of a call lacks its attributes",
        _VALUE,
        _COMMON,
        "operators.with_equal_attributes",
    ),
    damaged(
        "common-subexpression-of-any-constants",
        "the key of a call has the types of constants in place of their values",
        _VALUE,
        _COMMON,
        "operators.with_equal_constants",
    ),
    damaged(
        "dead-code-counted",
        "each application leaves its mark in the module",
        _BROKEN,
        _DEAD,
        "operators.with_a_count",
    ),
    damaged(
        "dead-code-loses-results",
        "of several results of one type only the first is kept, and returned for all",
        _VALUE,
        _DEAD,
        "operators.with_first_results",
    ),
    damaged(
        "dead-code-drops-called-functions",
        "private functions are dropped though they are called",
        (*_CRASH, *_BROKEN),
        _DEAD,
        "operators.without_called_functions",
    ),
    damaged(
        "folding-merges-constants",
        "constants of one shape and dtype are taken for one",
        _VALUE,
        _FOLD,
        "functions.with_merged_constants",
    ),
    damaged(
        "folding-in-half-precision",
        "constants are computed in float16",
        _VALUE,
        _FOLD,
        "functions.with_half_constants",
    ),
    damaged(
        "folding-leaves-last-elements",
        "the last element of a folded constant stays 0",
        _VALUE,
        _FOLD,
        "functions.with_cut_constants",
    ),
    damaged(
        "fusion-forgets-attributes",
        "the functions lose their attributes when calls are grouped",
        _BROKEN,
        _GROUP,
        "functions.without_attributes",
    ),
    damaged(
        "fusion-swaps-arguments",
        "two arguments of one type are passed to a group in each other's place",
        _VALUE,
        _GROUP,
        "functions.with_swapped_arguments",
    ),
    damaged(
        "fusion-loses-outputs",
        "a group of several outputs of one type gives the first for each",
        _VALUE,
        _GROUP,
        "functions.with_first_fused",
    ),
    damaged(
        "fused-code-swaps-buffers",
        "two buffers of one type are passed to a fused function in each other's place",
        _VALUE,
        _FUSE,
        "functions.with_swapped_arguments",
    ),
    damaged(
        "fused-code-misses-the-tail",
        "the last iteration of a fused loop does not run",
        _VALUE,
        _FUSE,
        "functions.without_fused_tails",
    ),
    damaged(
        "fused-code-reorders-stages",
        "of two fused loops the second runs before the first has written what it reads",
        _VALUE,
        _FUSE,
        "functions.with_reordered_stages",
    ),
    damaged(
        "allocates-one-tensor",
        "calls whose results have one type write into one tensor",
        _VALUE,
        _ALLOCATE,
        "memory.with_one_tensor",
    ),
    damaged(
        "allocates-stale-shapes",
        "a tensor is allocated with the first two of its sizes in another order",
        (*_CRASH, Verdict.WRONG_SHAPE),
        _ALLOCATE,
        "memory.with_turned_shapes",
    ),
    damaged(
        "allocation-swaps-results",
        "two results of one call are written into each other's tensor",
        _VALUE,
        _ALLOCATE,
        "memory.with_swapped_results",
    ),
    damaged(
        "planner-aliases-live-buffers",
        "two live tensors of one size share a storage",
        _VALUE,
        _PLAN,
        "memory.with_aliased_storage",
    ),
    damaged(
        "planner-halves-wide-storage",
        "an element of float64 counts as four bytes",
        (*_CRASH, Verdict.PROCESS_DEATH),
        _PLAN,
        "memory.with_narrow_storage",
    ),
    damaged(
        "planner-overwrites-operands",
        "the result of a call gets the storage of its first operand, though the call reads on",
        _VALUE,
        _PLAN,
        "memory.with_operands_storage",
    ),
    damaged(
        "kills-before-last-use",
        "a tensor is freed before the last call that reads it",
        (*_CRASH, Verdict.PROCESS_DEATH),
        _KILL,
        "memory.with_early_kills",
    ),
    damaged(
        "kills-storage-before-use",
        "a storage is freed before the tensor in it is made",
        (*_CRASH, Verdict.PROCESS_DEATH),
        _KILL,
        "memory.with_early_storage_kills",
    ),
    damaged(
        "kills-results",
        "a tensor is freed though the function returns it",
        (*_CRASH, Verdict.PROCESS_DEATH),
        _KILL,
        "memory.with_killed_results",
    ),
    damaged(
        "shapes-turned",
        "a shape is made of its sizes from the last to the first",
        (Verdict.WRONG_SHAPE, *_CRASH),
        _SIZES,
        "sizes.with_turned_sizes",
    ),
    damaged(
        "sizes-of-the-first-parameter-alone",
        "sizes that a later parameter brings are not read",
        (Verdict.WRONG_SHAPE, *_CRASH),
        _SIZES,
        "sizes.with_first_matches",
    ),
    damaged(
        "sizes-added",
        "a size that is a product is computed as a sum",
        (*_CRASH, Verdict.WRONG_SHAPE),
        _SIZES,
        "sizes.with_sums",
    ),
)
