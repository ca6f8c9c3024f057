"""Suppression of boxes for each class of its own, as ONNX and TensorFlow define it.

TVM reads the limit of boxes while it compiles: it fails on a constant of one axis, and takes a
parameter for no limit. Its kernels select nothing under a threshold of 0, remove the same box under
one of 1, take scores below 0 for boxes that are gone, and mix float32 with other dtypes. They write
two elements of no boxes, and read boxes that are not there where scores are of more.

Here one kernel chooses the best box that is left, again and again, and removes what overlaps it by
more than the threshold.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from tvm import relax, te, tirx
from tvm.script.ir_builder import IRBuilder
from tvm.script.ir_builder import tirx as T

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import (
    LEGALIZE,
    FaultPart,
    Fix,
    OperatorAttribute,
    checked,
    invalid,
    require_shapes,
)
from relaxcheck.fixes.framework.patch import Guard, NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/nms.py")

OPERATOR = "relax.vision.all_class_non_max_suppression"
_ORIGINAL = relax.op.vision.all_class_non_max_suppression

_RANK = 3


def check_boxes(boxes: Any, scores: Any) -> None:
    """Raise ``ValueError`` where scores are of other boxes; where shapes are known."""
    shapes = {}
    for name, each in (("boxes", boxes), ("scores", scores)):
        if not tvm_api.is_tensor(each) or not tvm_api.has_shape(each):
            # The operand of a nested call has no type yet.
            return
        shapes[name] = tvm_api.shape_of(each)
        if len(shapes[name]) != _RANK:
            why = f"the rank of {name} is {len(shapes[name])} and has to be {_RANK}"
            raise invalid(OPERATOR, why, **{name: tvm_api.show(shapes[name])})
    ours, theirs = shapes.values()
    for dim, other in ((ours[0], theirs[0]), (ours[1], theirs[2])):
        sizes = tvm_api.as_int(dim), tvm_api.as_int(other)
        if None not in sizes and sizes[0] != sizes[1]:
            raise invalid(
                OPERATOR,
                "scores have the shape (batch, classes, boxes)",
                **{name: tvm_api.show(shape) for name, shape in shapes.items()},
            )


def _check(arguments: Mapping[str, Any]) -> None:
    check_boxes(arguments["boxes"], arguments["scores"])


def _lower(builder: BlockBuilder, call: Call) -> Expr:
    require_shapes(call)
    check_boxes(*call.args[:2])
    form = str(call.attrs.output_format)
    if form == "tensorflow":
        items = builder.emit(builder.call_te(_of_batches, *call.args))
        return relax.Tuple([relax.TupleGetItem(items, item) for item in range(3)])
    if form != "onnx":
        raise invalid(OPERATOR, "it is onnx or tensorflow", output_format=form)
    items = builder.emit(builder.call_te(_of_all, *call.args))
    rows, count = (builder.emit(relax.TupleGetItem(items, item)) for item in (0, 1))
    begin, end, steps = (
        builder.emit(builder.call_te(each, count, primfunc_name_hint=name))
        for name, each in (("begin", _begin), ("end", _end), ("steps", _steps))
    )
    kept = builder.emit(relax.op.dynamic_strided_slice(rows, begin, end, steps))
    return relax.Tuple([kept, count])


def _chosen_one_by_one(original: Legalization) -> Legalization:
    """A lowering that takes nothing of ``original``."""
    return _lower


def _begin(count: Tensor) -> Tensor:
    return te.compute((2,), lambda at: count[0] * 0, name="begin")


def _end(count: Tensor) -> Tensor:
    return te.compute((2,), lambda at: tirx.Select(at == 0, count[0], _whole(3)), name="end")


def _steps(count: Tensor) -> Tensor:
    return te.compute((2,), lambda at: count[0] * 0 + 1, name="steps")


def _whole(value: int) -> PrimExpr:
    return tirx.const(value, "int64")


def _of_all(boxes: Tensor, scores: Tensor, *limits: Tensor) -> list[Tensor]:
    """Rows of batch, class and box; how many there are; and work space."""
    batch, classes, count = scores.shape

    def body(buffers: Sequence[Any], outs: Sequence[Any]) -> Any:
        rows, total, space, state = outs

        def select(at: PrimExpr, each: PrimExpr, box: PrimExpr) -> None:
            place = total[0]
            for column, value in enumerate((at, each, box)):
                T.buffer_store(rows, _wide(value), [place, column])
            T.buffer_store(total, place + 1, [0])

        with IRBuilder() as builder:
            with T.seq_scope():
                T.buffer_store(total, _whole(0), [0])
                _choose(buffers, space, state, select)
            return builder.get()

    results: list[Tensor] = te.extern(
        [(batch * classes * count, 3), (1,), (count,), (2,)],
        [boxes, scores, *limits],
        body,
        dtype=["int64"] * 4,
        name="all_class_nms",
    )
    return results


def _of_batches(boxes: Tensor, scores: Tensor, *limits: Tensor) -> list[Tensor]:
    """For each batch rows of class and box, their scores, and how many there are; work space."""
    batch, classes, count = scores.shape
    every = classes * count

    def body(buffers: Sequence[Any], outs: Sequence[Any]) -> Any:
        rows, values, total, space, state = outs

        def select(at: PrimExpr, each: PrimExpr, box: PrimExpr) -> None:
            place = total[at]
            for column, value in enumerate((each, box)):
                T.buffer_store(rows, _wide(value), [at, place, column])
            value = tirx.Cast("float32", buffers[1][at, each, box])
            T.buffer_store(values, value, [at, place])
            T.buffer_store(total, place + 1, [at])

        with IRBuilder() as builder:
            with T.seq_scope():
                with T.serial(0, batch) as at:
                    T.buffer_store(total, _whole(0), [at])
                    with T.serial(0, every) as place:
                        for column in (0, 1):
                            T.buffer_store(rows, _whole(0), [at, place, column])
                        T.buffer_store(values, tirx.const(0, "float32"), [at, place])
                _choose(buffers, space, state, select)
            return builder.get()

    results: list[Tensor] = te.extern(
        [(batch, every, 2), (batch, every), (batch,), (count,), (2,)],
        [boxes, scores, *limits],
        body,
        dtype=["int64", "float32", "int64", "int64", "int64"],
        name="all_class_nms",
    )
    return results


Select = Callable[[PrimExpr, PrimExpr, PrimExpr], None]
"""``select(batch, class, box)`` appends a box to the results."""


def _choose(buffers: Sequence[Any], left: Any, state: Any, select: Select) -> None:
    """Select boxes, the best first. ``left`` marks those that are left; ``state`` holds how many
    are selected, and the best one, -1 where none is left.
    """
    boxes, scores, *limits = buffers
    most, overlap, least = (limit[(0,) * len(limit.shape)] for limit in limits)
    batch, classes, count = scores.shape
    kind = "float64" if tvm_api.dtype_of(scores) == "float64" else "float32"
    with T.serial(0, batch) as at, T.serial(0, classes) as each:
        T.buffer_store(state, _whole(0), [0])
        with T.serial(0, count) as box:
            above = scores[at, each, box].astype(kind) > least.astype(kind)
            T.buffer_store(left, tirx.Cast("int64", above), [box])
        with T.serial(0, count):
            T.buffer_store(state, _whole(-1), [1])
            with T.serial(0, count) as box:
                # The index of no box is not read: the other test holds already.
                best = tirx.max(state[1], _whole(0))
                better = scores[at, each, box] > scores[at, each, best]
                with T.If(tirx.all(left[box] > 0, tirx.any(state[1] < 0, better))), T.Then():
                    T.buffer_store(state, _wide(box), [1])
            with T.If(tirx.all(state[1] >= 0, state[0] < _wide(most))), T.Then():
                select(at, each, state[1])
                T.buffer_store(state, state[0] + 1, [0])
                with T.serial(0, count) as box:
                    shared = _shared(boxes, at, box, state[1], kind)
                    gone = tirx.any(box == state[1], shared > overlap.astype(kind))
                    with T.If(gone), T.Then():
                        T.buffer_store(left, _whole(0), [box])


def _wide(value: PrimExpr) -> PrimExpr:
    return tirx.Cast("int64", value)


def _shared(boxes: Any, at: PrimExpr, one: PrimExpr, other: PrimExpr, kind: str) -> PrimExpr:
    """The quotient of intersection and union of two boxes; 0 where they have no area."""

    def ends(box: PrimExpr, axis: int) -> tuple[PrimExpr, PrimExpr]:
        corners = (boxes[at, box, axis].astype(kind), boxes[at, box, axis + 2].astype(kind))
        return tirx.min(*corners), tirx.max(*corners)

    zero = tirx.const(0, kind)
    common, areas = tirx.const(1, kind), [tirx.const(1, kind)] * 2
    for axis in (0, 1):
        (low, high), (start, end) = ends(one, axis), ends(other, axis)
        common = common * tirx.max(zero, tirx.min(high, end) - tirx.max(low, start))
        areas = [areas[0] * (high - low), areas[1] * (end - start)]
    union = areas[0] + areas[1] - common
    return tirx.if_then_else(union > zero, common / union, zero)


_BOXES = np.array([[[0, 0, 4, 4], [0, 0, 4, 4], [5, 5, 6, 6]]], "float32")
_SCORES = np.array([[[0.25, 0.5, 0.75]]], "float32")


def _selected(
    *,
    limits: Sequence[float] = (9, 0.5, 0.0),
    shape: tuple[int, ...] = (),
    known: bool = True,
    form: str = "onnx",
    boxes: Any = _BOXES,
    scores: Any = _SCORES,
) -> list[int]:
    """The boxes that are selected of three, of which two are the same.

    Raises:
        Exception: TVM's own.
    """
    kinds = ("int64", "float32", "float32")
    values = [np.full(shape, value, kind) for value, kind in zip(limits, kinds, strict=True)]

    def make(*tensors: Expr) -> Expr:
        others = tensors[2:] or [tvm_api.const(value) for value in values]
        result = relax.op.vision.all_class_non_max_suppression(*tensors[:2], *others, form)
        return relax.TupleGetItem(result, 0)

    shapes, dtypes = [boxes.shape, scores.shape], [boxes.dtype.name, scores.dtype.name]
    arrays = [boxes, scores]
    if not known:
        shapes += [shape] * 3
        dtypes += kinds
        arrays += values
    module = probes.program(make, *shapes, dtypes=tuple(dtypes))
    rows = probes.run(module, *arrays)
    selected: list[int] = rows.reshape(-1, rows.shape[-1])[:, -1].tolist()
    return selected


def _is(wanted: list[int], **arguments: Any) -> bool:
    try:
        return _selected(**arguments) == wanted
    except Exception:
        return False


def refuses_other_boxes() -> bool:
    """True if scores of more boxes than there are cannot be called with."""
    operator = "all_class_non_max_suppression"

    def make() -> object:
        kinds = ("float32", "float32", "int64", "float32", "float32")
        shapes = ((1, 2, 4), (1, 1, 3), (), (), ())
        call = probes.one_call(relax.op.vision.all_class_non_max_suppression, *shapes, dtypes=kinds)
        return probes.is_lowered(call)

    return probes.is_refused(make, operator, "boxes")


_WIDE = {"boxes": _BOXES.astype("float64"), "scores": _SCORES.astype("float64")}
_NONE = {"boxes": _BOXES[:, :0], "scores": _SCORES[..., :0]}

FIX = Fix(
    name="all_class_nms",
    operators=(OPERATOR,),
    fault=(
        "all_class_non_max_suppression fails on limits of one axis, ignores a limit of boxes that"
        " is a parameter, selects nothing under an iou_threshold of 0, removes the same box under"
        " one of 1, does not know scores below 0, float64 or no boxes, and reads boxes that are"
        " not there where there are more scores"
    ),
    issue=None,
    parts=(
        FaultPart("limits of one axis", lambda: not _is([2, 1], shape=(1,))),
        FaultPart("limits at run time", lambda: not _is([2], known=False, limits=(1, 0.5, 0))),
        FaultPart("no overlap at all", lambda: not _is([2, 1], limits=(9, 0.0, 0))),
        FaultPart("complete overlap", lambda: not _is([2, 1, 0], limits=(9, 1.0, 0))),
        FaultPart(
            "scores below 0", lambda: not _is([2, 1], limits=(9, 0.5, -9), scores=_SCORES - 3)
        ),
        FaultPart("float64", lambda: not _is([2, 1], **_WIDE)),
        FaultPart("no boxes", lambda: not _is([], **_NONE)),
        FaultPart("scores of other boxes", lambda: not refuses_other_boxes()),
    ),
    attributes=(OperatorAttribute(OPERATOR, LEGALIZE, _chosen_one_by_one),),
    rebindings=lambda: (checked(_ORIGINAL, _check),),
    after="tables",
    patch=(
        Wrapping(OPERATOR, _chosen_one_by_one),
        Guard(
            "relax/op/vision/nms.py",
            "all_class_non_max_suppression",
            check_boxes,
            "boxes, scores",
        ),
    ),
)
