"""Layouts as ConvertLayout asks for them and decides on them."""

from typing import Any

import tvm

from relaxcheck.fixes import tvm_api

# Parses a layout; "layout" of tvm.tirx has become something else.
_LAYOUT: Any = tvm.s_tir.slayout


def name(decided: Any) -> str:
    """The text of a layout that ConvertLayout decided on; empty if unknown."""
    layout = decided.layout
    return "" if layout is None or decided.is_unknown_dim else str(layout.name)


def decision(text: str) -> Any:
    """ConvertLayout's record of the decision to lay out a tensor as ``text``."""
    return tvm.ir.make_node(
        "relax.transform.LayoutDecision", layout=_LAYOUT(text), is_unknown_dim=False
    )


def unchanged(call: tvm_api.Call) -> Any:
    """The answer to ConvertLayout that keeps ``call`` and the layouts of all its tensors."""

    def as_written(expr: tvm_api.Expr) -> Any:
        return decision("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: int(tvm_api.type_of(expr).ndim)])

    return tvm.ir.make_node(
        "relax.transform.InferLayoutOutput",
        input_layouts=[as_written(argument) for argument in call.args],
        output_layouts=[as_written(call)],
        new_attrs=call.attrs,
        new_args={},
    )
