"""Losses: of labels that are probabilities, of labels that are classes, and its gradient."""

from collections.abc import Sequence
from itertools import cycle, islice
from math import prod

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.faults import Fault
from relaxcheck.generators.core.fills.kinds import Below, Fill, Literal, Positive
from relaxcheck.generators.core.operand import FitsDims, at_least
from relaxcheck.generators.core.points import text
from relaxcheck.generators.operators.faults import (
    argument_dtype,
    argument_grown,
    argument_rank,
    attribute_is,
)
from relaxcheck.generators.operators.record import Attribute, Numerics, Operand, Operator

_RANKS = (2, 1, 3, 4)
_INTEGERS = ("int64", "int32")

_IGNORED = -100
"""The default of ``ignore_index``: no class, but a target may be it."""

_LOSS, _BACKWARD = "nn.nll_loss", "grad.nll_loss_backward"
_CROSS = "nn.cross_entropy_with_logits"

_MEANINGS = "MEANINGS.md, Losses and gradients"


def _classes(shape: Sequence[Dim]) -> Dim:
    return shape[1] if len(shape) > 1 else shape[0]


def _others(shape: Sequence[Dim]) -> tuple[Dim, ...]:
    """The shape of the targets of predictions of ``shape``: without the classes."""
    return (shape[0], *shape[2:]) if len(shape) > 1 else ()


def _ignores(shape: Sequence[Dim], value: str) -> bool:
    """Targets that are no class are listed, so that their shape has to be static."""
    return value in ("nothing", "class 0") or not any(map(symbols, shape))


def _targets(shape: Sequence[Dim], ignored: str) -> tuple[Fill, int]:
    """The targets of predictions of ``shape``, and which of them is ignored."""
    classes, others = _classes(shape), _others(shape)
    if ignored in ("nothing", "class 0"):
        return Below(classes), 0 if ignored == "class 0" else _IGNORED
    index = _IGNORED if ignored == "-100" else int(classes)
    # The classes in turn, with one to ignore after the first.
    turn = (0, index, *range(1, int(classes))) if others else (index,)
    return Literal(tuple(islice(cycle(turn), prod(map(int, others))))), index


def _targeted(
    draft: Draft, value: Value, point: Point
) -> tuple[list[Value], dict[str, program.Attribute]]:
    """The operands from the predictions on, and the attributes."""
    draft.require(_classes(value.shape), 1)
    fill, index = _targets(value.shape, text(point, "ignored"))
    targets = draft.operand(_others(value.shape), text(point, "target_dtype"), fill=fill)
    operands, attributes = [value, targets], dict[str, program.Attribute]()
    if point["weights"]:
        # Their sum divides: it is not to cancel.
        fill = Positive(0.5)
        operands.append(draft.operand((_classes(value.shape),), value.dtype, fill=fill))
    if point["reduction"] is not None:
        attributes["reduction"] = text(point, "reduction")
    if index != _IGNORED:
        attributes["ignore_index"] = index
    return operands, attributes


def _reduced(value: Value, point: Point) -> tuple[Dim, ...]:
    return _others(value.shape) if point["reduction"] == "none" else ()


def _nll_loss(draft: Draft, value: Value, point: Point) -> None:
    operands, attributes = _targeted(draft, value, point)
    draft.call(_LOSS, operands, _reduced(value, point), **attributes)


def _nll_loss_backward(draft: Draft, value: Value, point: Point) -> None:
    gradient = draft.operand(_reduced(value, point), value.dtype)
    operands, attributes = _targeted(draft, value, point)
    draft.call(_BACKWARD, [gradient, *operands], value.shape, **attributes)


def _cross_entropy(draft: Draft, value: Value, point: Point) -> None:
    labels = draft.operand(value.shape, value.dtype)
    draft.call(_CROSS, [value, labels], ())


_AXES = (
    Axis("reduction", (None, "sum", "none", "mean"), None),
    Axis("weights", (False, True), False, words="weights"),
    Axis(
        "ignored",
        ("nothing", "class 0", "-100", "number of classes"),
        "nothing",
        FitsDims(_ignores),
        words="targets to ignore: {}",
    ),
    Axis("target_dtype", _INTEGERS, "int64"),
)

_ATTRIBUTES = (
    Attribute("reduction", "text", "mean"),
    Attribute("ignore_index", "int", _IGNORED),
)

_OPERANDS = (
    Operand("predictions", ranks=_RANKS),
    Operand("targets", ranks=(1, 0, 2, 3), dtypes=_INTEGERS),
    Operand("weights", ranks=(1,), optional=True),
)

_MATRIX: Point = {"rank": 2, "ignored": "nothing"}
_WEIGHTED: Point = {**_MATRIX, "weights": True}


def _faults(name: str, first: int) -> tuple[Fault, ...]:
    """Those of a call of ``name`` whose predictions are argument ``first``."""
    targets, weights = first + 1, first + 2
    return (
        argument_dtype(name, targets, "float32", kind="targets-dtype", pinned=_MATRIX),
        argument_grown(name, targets, kind="targets-differ", pinned=_MATRIX),
        argument_rank(name, targets, kind="targets-rank", pinned=_MATRIX),
        argument_grown(name, weights, kind="weights-differ", pinned=_WEIGHTED),
        argument_rank(name, weights, kind="weights-rank", pinned=_WEIGHTED),
        argument_dtype(name, weights, "float16", kind="weights-dtype", pinned=_WEIGHTED),
        attribute_is("reduction-unknown", name, "reduction", "average"),
    )


def _has_classes(shape: Sequence[Dim]) -> bool:
    return at_least(_classes(shape), 1)


OPERATORS = (
    Operator(
        _CROSS,
        meaning="-sum(predictions * labels), divided by the first of two or more dimensions.",
        source=f"docstring of relax.op.{_CROSS}; {_MEANINGS}",
        operands=(Operand("predictions", ranks=_RANKS), Operand("labels", ranks=_RANKS)),
        apply=_cross_entropy,
        numerics=Numerics.ACCUMULATES,
        faults=(
            argument_grown(_CROSS, 1),
            argument_rank(_CROSS, 1, kind="ranks-differ"),
            argument_dtype(_CROSS, 1, "float16"),
        ),
    ),
    Operator(
        _LOSS,
        meaning="-predictions[n, t, ...] * weights[t] of each target t = targets[n, ...], 0 where "
        "t is ignore_index; their sum, or its quotient by the sum of the weights taken.",
        source=f"docstring of relax.op.{_LOSS}; torch.nn.functional.nll_loss; {_MEANINGS}",
        operands=_OPERANDS,
        attributes=_ATTRIBUTES,
        axes=_AXES,
        apply=_nll_loss,
        numerics=Numerics.ACCUMULATES,
        requires="targets that are classes or ignore_index",
        operand_fits=_has_classes,
        faults=_faults(_LOSS, 0),
    ),
    Operator(
        _BACKWARD,
        meaning="The gradient of nn.nll_loss in its predictions, of which the dtype and shape "
        "alone count: -weights[t] * output_grad at each target, 0 elsewhere; divided by the sum "
        "of the weights taken where the loss is.",
        source=f"docstring of relax.op.{_BACKWARD}; torch.autograd; {_MEANINGS}",
        operands=(Operand("output_grad", ranks=(0, 1, 2, 3)), *_OPERANDS),
        at_hand=1,
        attributes=_ATTRIBUTES,
        axes=_AXES,
        apply=_nll_loss_backward,
        numerics=Numerics.ROUNDS,
        requires="targets that are classes or ignore_index",
        operand_fits=_has_classes,
        faults=(
            *_faults(_BACKWARD, 1),
            argument_grown(_BACKWARD, 0, pinned={**_MATRIX, "reduction": "none"}),
            argument_rank(_BACKWARD, 0, kind="gradient-rank", pinned=_MATRIX),
            argument_dtype(_BACKWARD, 0, "float16", kind="gradient-dtype"),
        ),
    ),
)
