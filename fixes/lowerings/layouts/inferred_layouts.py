"""ConvertLayout on calls whose layouts TVM infers wrongly.

The pass asks each operator for the layouts of its results. ``permute_dims`` and ``squeeze`` write
the letter of an axis at its number, which may be negative. ``stack`` inserts a letter that the
layout of its result does not have. ``dropout`` names one layout for a tuple of two. A program
without any convolution fails too: the pass asks everywhere.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Override
from relaxcheck.fixes.tvm_api import Call, Expr
from relaxcheck.fixes.tvm_api import layout_decisions as tvm_api_layouts

UPSTREAM = NewFile(
    "relax/transform/inferred_layouts.py",
    "ConvertLayout counts axes from the first, and leaves stacks as they are.",
)

KEY = "FRelaxInferLayout"
_Infer = Callable[[Call, Mapping[str, Any], Mapping[Any, Any]], Any]


def _from_the_first(axes: Any, rank: int) -> list[int]:
    return [int(axis) % rank for axis in axes]


def _permuted(original: _Infer) -> _Infer:
    def infer(call: Call, desired: Mapping[str, Any], layouts: Mapping[Any, Any]) -> Any:
        data, axes = call.args[0], call.attrs.axes
        if axes is None:
            return original(call, desired, layouts)
        counted = _from_the_first(axes, tvm_api.type_of(data).ndim)
        return original(relax.op.permute_dims(data, counted), desired, layouts)

    return infer


def _squeezed(original: _Infer) -> _Infer:
    def infer(call: Call, desired: Mapping[str, Any], layouts: Mapping[Any, Any]) -> Any:
        data, axes = call.args[0], call.attrs.axis
        if axes is None:
            return original(call, desired, layouts)
        if not isinstance(tvm_api.type_of(data).shape, relax.ShapeExpr):
            # The original reads the shape, although the axes say all.
            return tvm_api_layouts.unchanged(call)
        counted = _from_the_first(axes, tvm_api.type_of(data).ndim)
        return original(relax.op.squeeze(data, counted), desired, layouts)

    return infer


def _stacked(_original: _Infer) -> _Infer:
    def infer(call: Call, _desired: Mapping[str, Any], _layouts: Mapping[Any, Any]) -> Any:
        return tvm_api_layouts.unchanged(call)

    return infer


def _dropped(original: _Infer) -> _Infer:
    def infer(call: Call, desired: Mapping[str, Any], layouts: Mapping[Any, Any]) -> Any:
        return tvm_api_layouts.with_results(original(call, desired, layouts), 2)

    return infer


def _becomes(
    make: Callable[..., Expr], want: Callable[..., Expr], *shapes: tuple[int, ...]
) -> bool:
    """True if ConvertLayout turns the program of ``make`` into that of ``want``."""
    converted = relax.transform.ConvertLayout({})
    try:
        return str(converted(probes.program(make, *shapes))) == str(probes.program(want, *shapes))
    except Exception:
        return False


def _stays(make: Callable[..., Expr], *shapes: tuple[int, ...]) -> bool:
    return _becomes(make, make, *shapes)


def permutes_negative_axes() -> bool:
    """True if ConvertLayout accepts ``permute_dims`` by negative axes; may kill TVM."""
    return _becomes(
        lambda x: relax.op.permute_dims(x, (0, -1, 1)),
        lambda x: relax.op.permute_dims(x, (0, 2, 1)),
        (2, 3, 4),
    )


def squeezes_negative_axes() -> bool:
    """True if ConvertLayout accepts ``squeeze`` of negative axes; may kill TVM."""
    return _becomes(
        lambda x: relax.op.squeeze(x, [-1]), lambda x: relax.op.squeeze(x, [2]), (2, 3, 1)
    )


def stacks() -> bool:
    """True if ConvertLayout accepts ``stack``, of numbers too; may kill TVM."""
    return all(
        _stays(lambda x, y, axis=axis: relax.op.stack([x, y], axis=axis), shape, shape)
        for shape, axis in (((2, 3), 0), ((2, 3), -1), ((), 0))
    )


def drops() -> bool:
    """True if ConvertLayout accepts ``dropout``, which has two results."""
    return _stays(lambda x: relax.op.nn.dropout(x, 0.5), (2, 3))


_GUARDS: dict[str, Callable[[_Infer], _Infer]] = {
    "relax.permute_dims": _permuted,
    "relax.squeeze": _squeezed,
    "relax.stack": _stacked,
    "relax.nn.dropout": _dropped,
}

FIX = Fix(
    name="inferred_layouts",
    operators=tuple(_GUARDS),
    fault=(
        "ConvertLayout fails, or writes beside its memory, on stack, dropout, and negative axes of"
        " squeeze and permute_dims, in programs without convolutions too"
    ),
    issue=None,
    parts=(
        FaultPart("permuted axes", lambda: not permutes_negative_axes(), deadly=True),
        FaultPart("squeezed axes", lambda: not squeezes_negative_axes(), deadly=True),
        FaultPart("stacks", lambda: not stacks(), deadly=True),
        FaultPart("two results", lambda: not drops()),
    ),
    attributes=tuple(
        OperatorAttribute(operator, KEY, guard) for operator, guard in _GUARDS.items()
    ),
    after="convert_layout_packed",
    patch=tuple(
        Override((operator,), KEY, guard, wraps=True) for operator, guard in _GUARDS.items()
    ),
)
