"""The reductions within lowered functions, in one spelling over the releases.

A block of a lowered function is an ``SBlock``, earlier a ``Block``; its schedule has moved with it.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import tvm
from tvm import tirx

from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.proving import prover
from relaxcheck.fixes.tvm_api import PrimExpr

UPSTREAM = NewFile(
    "relax/transform/legalize_ops/reductions.py",
    "The reductions within lowered functions.",
)

_SCHEDULE: Any = getattr(tvm.s_tir, "Schedule", None) or tirx.Schedule
_REDUCED: Any = tirx.IterVar.CommReduce


def _blocks(node: Any) -> Iterator[Any]:
    """Every block of a statement, outer ones first."""
    if hasattr(node, "iter_vars"):
        yield node
    for child in [*getattr(node, "seq", ()), getattr(node, "block", None)]:
        if child is not None:
            yield from _blocks(child)
    body = getattr(node, "body", None)
    if body is not None:
        yield from _blocks(body)


def empty_extents(function: Any) -> dict[str, list[PrimExpr]]:
    """The extents that may be 0 of reductions in the lowered ``function``, by block.

    Leaves out blocks without such extents, and those that initialize their output otherwise.
    """
    empty = {}
    for block in _blocks(function.body):
        extents = [
            axis.dom.extent
            for axis in block.iter_vars
            if axis.iter_type == _REDUCED and not prover.proves(axis.dom.extent >= 1)
        ]
        if extents and block.init is not None:
            empty[str(block.name_hint)] = extents
    return empty


def initialized(function: Any, blocks: Iterable[str]) -> Any:
    """The lowered ``function`` with separate loops that initialize the outputs of ``blocks``."""
    schedule = _SCHEDULE(tvm.IRModule({"main": function}))
    for name in blocks:
        find = getattr(schedule, "get_sblock", None) or schedule.get_block
        block = find(name)
        schedule.decompose_reduction(block, schedule.get_loops(block)[0])
    new = schedule.mod["main"]
    return new.with_attrs(function.attrs) if function.attrs else new
