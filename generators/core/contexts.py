"""Options of TVM's ``PassContext`` that a case is compiled with, as data.

The settings are those of Relax and TIR that passes for a CPU read; all releases have them. None may
change the meaning of a program.
"""

from collections.abc import Mapping

from msgspec import UNSET, UnsetType

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.core.pass_calls import Option
from relaxcheck.generators.core.points import text
from relaxcheck.generators.core.program import Case

OPT_LEVEL = "opt_level"
"""The key of the level of the context: passes of a higher one are left out. TVM's default is 2."""

DISABLED = "disabled_pass"
"""The key of the name of a pass that is left out."""

USUAL = "usual"
"""The setting of TVM's own defaults."""

CONTEXTS: Mapping[str, Mapping[str, Option]] = {
    USUAL: {},
    "level 0": {OPT_LEVEL: 0},
    "level 1": {OPT_LEVEL: 1},
    "level 3": {OPT_LEVEL: 3},
    "fusion of one": {"relax.FuseOps.max_depth": 1},
    "fusion of two": {"relax.FuseOps.max_depth": 2},
    "no plan": {DISABLED: "StaticPlanBlockMemory"},
    "no kills": {DISABLED: "KillAfterLastUse"},
    "no reshapes": {DISABLED: "RewriteDataflowReshape"},
    "no folding": {DISABLED: "FoldConstant"},
    "no patterns": {DISABLED: "AnnotateTIROpPattern"},
    "no subexpressions": {"tirx.disable_cse_tir": True},
    "no storage rewrite": {"tirx.disable_storage_rewrite": True},
    "no vectors": {"tirx.disable_vectorize": True},
    "no assertions": {"tirx.disable_assert": True},
    "aliases": {"tirx.noalias": False},
    "trivial loops": {"tirx.debug_keep_trivial_loop": True},
    "bound checks": {"tirx.instrument_bound_checkers": True},
}
"""Contexts by name: TVM's defaults, and each setting that is drawn, alone."""

LEFT_OUT: Mapping[str, str] = {
    "relax.backend.use_cuda_graph": "of CUDA",
    "relax.fallback_device_type": "chooses a device",
    "relax.lift_transform_params.consume_params": "of LiftTransformParams, which no case applies",
    "relax.transform.apply_legalize_ops": "leaves calls of operators, which relax.build refuses",
    "testing.immutable_module": "of TVM's own tests",
    "tirx.add_lower_pass": "takes passes of the caller's",
    "tirx.enable_fast_math": "computes approximations whose errors TVM does not state",
    "tirx.is_entry_func": "set by passes for functions",
    "tirx.merge_static_smem": "of GPUs",
    "tirx.use_async_copy": "of GPUs",
    "tirx.vtcm_capacity": "of Hexagon",
    "tirx.enable_debug": "prints while a module runs",
    "tirx.enable_buffer_level_predication": "of targets with predicated loads",
    "tirx.instrument_lwp": "of a profiler of Hexagon",
    "tirx.s_tir.ldg32": "of CUDA",
    "tirx.ptx.ldg32": "of CUDA",
    "tirx.RemoveNoOp": "a configuration of several values",
    "tirx.StmtSimplify": "a configuration of several values",
    "tirx.UnrollLoop": "a configuration of several values",
    "s_tir.HoistExpression": "a configuration of several values",
    "s_tir.HoistIfThenElse": "a configuration of several values",
    "s_tir.InjectDoubleBuffer": "a configuration of several values",
    "s_tir.LoopPartition": "a configuration of several values",
    "s_tir.instr_siblings": "of a profiler of Hexagon",
    "s_tir.lwp_disable_func_prof": "of a profiler of Hexagon",
    "s_tir.lwp_max_depth": "of a profiler of Hexagon",
    "s_tir.lwp_min_height": "of a profiler of Hexagon",
    "s_tir.reset_start_id": "of a profiler of Hexagon",
}
"""Options that TVM registers and no case sets, each with the reason."""


CONTEXT_AXIS = Axis(
    "context", tuple(CONTEXTS), USUAL, default_weight=2 * len(CONTEXTS), steered=False
)
"""The axis of the names of ``CONTEXTS``, mostly TVM's defaults: others are compiled alone."""


def drawn_context(point: Point) -> dict[str, Option] | UnsetType:
    """The options that ``point`` names on the axis of contexts; unset for TVM's defaults."""
    return dict(CONTEXTS[text(point, CONTEXT_AXIS.name)]) or UNSET


def context_of(case: Case) -> Mapping[str, Option]:
    """The options of the context that ``case`` is compiled in; none for TVM's defaults."""
    return case.context if isinstance(case.context, dict) else {}


def check_context(case: Case) -> None:
    """Check the options of the context of ``case``.

    Raises:
        CaseError: one is unknown or has another value than those of ``CONTEXTS``, in one line.
    """
    known: dict[str, list[Option]] = {}
    for each in CONTEXTS.values():
        for name, value in each.items():
            known.setdefault(name, []).append(value)
    context = context_of(case)
    if isinstance(case.context, dict) and not context:
        raise CaseError("context: leave the field out where there are no options")
    for name, value in context.items():
        if name not in known:
            raise CaseError(f"context: {name!r} is unknown; known are {', '.join(known)}")
        if not any(value == each and type(value) is type(each) for each in known[name]):
            values = ", ".join(map(repr, known[name]))
            raise CaseError(f"context: {name} is {value!r}, not one of {values}")


def arguments(context: Mapping[str, Option]) -> dict[str, object]:
    """The arguments of TVM's ``PassContext`` for the options ``context``."""
    own: dict[str, object] = {}
    config = {}
    for name, value in context.items():
        if name == OPT_LEVEL:
            own[name] = value
        elif name == DISABLED:
            own[name] = [value]
        else:
            config[name] = value
    return {**own, "config": config} if config else own


def arguments_text(context: Mapping[str, Option]) -> str:
    """The same as text of Python, without parentheses."""
    return ", ".join(f"{name}={value!r}" for name, value in arguments(context).items())


def text_of(context: Mapping[str, Option]) -> str:
    """The options in words."""
    return ", ".join(f"{name}={value!r}" for name, value in context.items())
