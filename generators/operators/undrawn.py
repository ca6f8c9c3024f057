"""Operators that get no record, each with the reason, and how programs reach it all the same."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Undrawn:
    """Operators that no record describes.

    ``emitted_by`` is the pass of ``relax.build`` that emits them; empty if no program reaches them.
    """

    operators: tuple[str, ...]
    reason: str
    emitted_by: str = ""


UNDRAWN = (
    Undrawn(
        (
            "ccl.allgather",
            "ccl.allreduce",
            "ccl.broadcast_from_worker0",
            "ccl.scatter_from_worker0",
        ),
        "needs several processes, one for each device",
    ),
    Undrawn(
        (
            "dist.annotate_sharding",
            "dist.call_tir_local_view",
            "dist.redistribute",
            "dist.redistribute_replica_to_shard",
        ),
        "needs a mesh of devices",
    ),
    Undrawn(("hint_on_device", "to_vdevice"), "needs a second device"),
    Undrawn(("builtin.alloc_tensor",), "only the compiler emits it", "CallTIRRewrite"),
    Undrawn(
        ("vm.call_tir_dyn",),
        "passes symbols to a kernel; TVM 0.25 alone emits it, in CallTIRRewrite",
    ),
    Undrawn(
        ("memory.alloc_storage", "memory.alloc_tensor"),
        "only the compiler emits it",
        "StaticPlanBlockMemory",
    ),
    Undrawn(
        ("memory.kill_storage", "memory.kill_tensor"),
        "only the compiler emits it",
        "KillAfterLastUse",
    ),
    Undrawn(
        ("vm.alloc_storage", "vm.alloc_tensor", "vm.kill_object"),
        "only the compiler emits it",
        "LowerRuntimeBuiltin",
    ),
    Undrawn(("call_builtin_with_ctx",), "only the compiler emits it", "VMShapeLower"),
    Undrawn(
        ("builtin.stop_lift_params",),
        "marks a value for LiftTransformParams and computes nothing",
    ),
    Undrawn(("wrap_param",), "marks a parameter for ToMixedPrecision and computes nothing"),
    Undrawn(("null_value",), "is an absent argument of a packed function: it has no value"),
    Undrawn(
        ("call_py_func",),
        "calls Python from BasePyModule; relax.build does not compile it",
    ),
)
"""All of them, grouped by reason."""


def _by_name() -> Mapping[str, Undrawn]:
    return MappingProxyType({name: each for each in UNDRAWN for name in each.operators})


BY_NAME = _by_name()
"""The declaration of each operator, by Relax name."""
