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
    """The answer to ConvertLayout that keeps ``call`` and the layouts of all its tensors.

    The tensors, also those in tuples, have known ranks.
    """
    return _answer(call.attrs, [_as_written(argument) for argument in call.args], _as_written(call))


def with_results(answer: Any, number: int) -> Any:
    """``answer`` with its first layout of a result for each of ``number`` results in a tuple."""
    return _answer(
        answer.new_attrs, list(answer.input_layouts), [answer.output_layouts[0]] * number
    )


def _as_written(expr: tvm_api.Expr) -> Any:
    return _initial(tvm_api.type_of(expr))


def _initial(of: Any) -> Any:
    """The letters of the axes in order, for each tensor of the type ``of``."""
    if hasattr(of, "fields"):
        return [_initial(field) for field in of.fields]
    return decision("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: int(of.ndim)])


def _answer(attributes: Any, operands: list[Any], result: Any) -> Any:
    return tvm.ir.make_node(
        "relax.transform.InferLayoutOutput",
        input_layouts=operands,
        output_layouts=[result],
        new_attrs=attributes,
        new_args={},
    )
