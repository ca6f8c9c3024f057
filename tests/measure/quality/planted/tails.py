"""A fault of loop transformations: the last iteration of the loop over the output is not run."""

from typing import Any

import tvm
from tvm import tirx


def without_tail(function: Any) -> Any:
    """``function`` without the last iteration of the outermost loop that has two or more.

    What it would have written stays as memory had it. Loops of symbolic extent stay whole.
    """
    block = function.body.block
    stages = list(block.body) if isinstance(block.body, tirx.SeqStmt) else [block.body]
    # The last stage is the one that writes the output.
    *earlier, last = stages
    shorter = _shorter(last)
    changed = tvm.s_tir.SBlock(
        block.iter_vars,
        block.reads,
        block.writes,
        block.name_hint,
        tirx.SeqStmt([*earlier, shorter]) if earlier else shorter,
        block.init,
        block.alloc_buffers,
        block.match_buffers,
        block.annotations,
    )
    return function.with_body(
        tvm.s_tir.SBlockRealize(function.body.iter_values, function.body.predicate, changed)
    )


def _shorter(statement: Any) -> Any:
    if not isinstance(statement, tirx.For):
        return statement
    extent, body = statement.extent, statement.body
    if isinstance(extent, tirx.IntImm) and int(extent) > 1:
        extent = extent - 1
    else:
        body = _shorter(body)
    return tirx.For(
        statement.loop_var,
        statement.min,
        extent,
        statement.kind,
        body,
        statement.thread_binding,
        statement.annotations,
    )


def without_tails(module: Any) -> Any:
    """``module`` with ``without_tail`` applied to each of its lowered functions."""
    changed = {
        name: without_tail(function) if _is_lowered(function) else function
        for name, function in module.functions.items()
    }
    return tvm.IRModule(changed, attrs=module.attrs)


def _is_lowered(function: Any) -> bool:
    """True if ``function`` computes tensors; the virtual machine's own ones have no block."""
    return isinstance(function, tirx.PrimFunc) and isinstance(
        function.body, tvm.s_tir.SBlockRealize
    )
